package image

import (
	"fmt"
	"slices"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

// copyImage makes an image of the account's own out of any that it sees in the region.
func copyImage(c *call) (any, error) {
	st := c.server
	if region := c.Params.String("SourceRegion"); region != st.Settings.Region {
		return nil, wire.Errorf("InvalidRequest", "The emulator has the images of %s alone, not those of %s", st.Settings.Region, region)
	}
	from, err := st.Image(c.Params.String("SourceImageId"))
	if err != nil {
		return nil, err
	}
	if c.Params.String("Name") == "" {
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameter Name")
	}
	specs, err := world.ReadTagSpecifications(c.Params)
	if err != nil {
		return nil, err
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	made := *from
	made.ID, made.Name, made.Description = st.NewID("ami"), c.Params.String("Name"), c.Params.String("Description")
	made.OwnerID, made.OwnerAlias, made.CreatedAt, made.DeprecatedAt = st.Settings.ID, "", c.At, time.Time{}
	made.Tags = world.TagsFor(specs, "image")
	st.Images = world.ByKey(append(st.Images, &made), func(i *Image) string { return i.ID })
	return struct {
		ID string `xml:"imageId"`
	}{made.ID}, nil
}

// ownImage finds the image that a call is about, which must be the account's.
func (c *call) ownImage() (*Image, error) {
	i, err := c.server.Image(c.Params.String("ImageId"))
	if err != nil {
		return nil, err
	}
	if i.OwnerID != c.server.Settings.ID {
		return nil, wire.Errorf("AuthFailure", "Not authorized for image:%s", i.ID)
	}
	return i, c.Commit()
}

// deregisterImage takes an image away; templates that name it stay, and launches by them fail.
func deregisterImage(c *call) (any, error) {
	gone, err := c.ownImage()
	if err != nil {
		return nil, err
	}
	c.server.Images = slices.DeleteFunc(slices.Clone(c.server.Images), func(i *Image) bool { return i == gone })
	return nil, nil
}

// deprecateImage serves EnableImageDeprecation and DisableImageDeprecation.
func deprecateImage(c *call) (any, error) {
	i, err := c.ownImage()
	if err != nil {
		return nil, err
	}
	i.DeprecatedAt = time.Time{}
	if c.Action == "EnableImageDeprecation" {
		if i.DeprecatedAt, err = time.Parse(time.RFC3339, c.Params.String("DeprecateAt")); err != nil {
			return nil, wire.Errorf("InvalidParameterValue", "Value (%s) for parameter DeprecateAt is invalid. It must be a time such as 2026-11-21T12:00:00Z", c.Params.String("DeprecateAt"))
		}
	}
	return nil, nil
}

// deprecated reports whether an image is past its deprecation; one without never is.
func (i *Image) deprecated(now time.Time) bool {
	return !i.DeprecatedAt.IsZero() && !i.DeprecatedAt.After(now)
}

// releaseEvery is how often newer images come out, which aliases then lead to.
const releaseEvery = 28 * 24 * time.Hour

// PublishDue makes the images that have come out since the account was made.
func (s *Registry) PublishDue(now time.Time) {
	first := s.CreatedAt.AddDate(0, 0, -releaseAges[0])
	for !now.Before(first.Add(time.Duration(s.Released+1) * releaseEvery)) {
		s.Released++
		at := first.Add(time.Duration(s.Released) * releaseEvery).Truncate(24 * time.Hour)
		for _, minor := range world.PublishedMinors(s.Settings.EKSVersion) {
			for _, b := range buildsFor(minor) {
				r := release{version: fmt.Sprintf("1.%d", minor), at: at, age: -s.Released}
				img := b.publish(s.Settings, r)
				s.Images = append(s.Images, img)
				b.announce(r, img, s.Parameters)
			}
		}
		s.Images = world.ByKey(s.Images, func(i *Image) string { return i.ID })
	}
}
