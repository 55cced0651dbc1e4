package emulator

import (
	"fmt"
	"slices"
	"time"

	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/market"
)

// copyImage makes an image of the account's own out of any that it sees in the region.
func copyImage(c *call) (any, error) {
	st := c.state()
	if region := c.params.String("SourceRegion"); region != st.Account.Region {
		return nil, wire.Errorf("InvalidRequest", "The emulator has the images of %s alone, not those of %s", st.Account.Region, region)
	}
	from, err := st.image(c.params.String("SourceImageId"))
	if err != nil {
		return nil, err
	}
	if c.params.String("Name") == "" {
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameter Name")
	}
	specs, err := readTagSpecifications(c.params)
	if err != nil {
		return nil, err
	}
	if err := c.commit(); err != nil {
		return nil, err
	}
	made := *from
	made.ID, made.Name, made.Description = st.newID("ami"), c.params.String("Name"), c.params.String("Description")
	made.OwnerID, made.OwnerAlias, made.CreatedAt, made.DeprecatedAt = st.Account.ID, "", c.now, time.Time{}
	made.Tags = tagsFor(specs, "image")
	st.Images = byKey(append(st.Images, &made), func(i *image) string { return i.ID })
	return struct {
		ID string `xml:"imageId"`
	}{made.ID}, nil
}

// ownImage finds the image that a call is about, which must be the account's.
func (c *call) ownImage() (*image, error) {
	i, err := c.state().image(c.params.String("ImageId"))
	if err != nil {
		return nil, err
	}
	if i.OwnerID != c.state().Account.ID {
		return nil, wire.Errorf("AuthFailure", "Not authorized for image:%s", i.ID)
	}
	return i, c.commit()
}

// deregisterImage takes an image away; templates that name it stay, and launches by them fail.
func deregisterImage(c *call) (any, error) {
	gone, err := c.ownImage()
	if err != nil {
		return nil, err
	}
	c.state().Images = slices.DeleteFunc(slices.Clone(c.state().Images), func(i *image) bool { return i == gone })
	return nil, nil
}

// deprecateImage serves EnableImageDeprecation and DisableImageDeprecation.
func deprecateImage(c *call) (any, error) {
	i, err := c.ownImage()
	if err != nil {
		return nil, err
	}
	i.DeprecatedAt = time.Time{}
	if c.action == "EnableImageDeprecation" {
		if i.DeprecatedAt, err = time.Parse(time.RFC3339, c.params.String("DeprecateAt")); err != nil {
			return nil, wire.Errorf("InvalidParameterValue", "Value (%s) for parameter DeprecateAt is invalid. It must be a time such as 2026-11-21T12:00:00Z", c.params.String("DeprecateAt"))
		}
	}
	return nil, nil
}

// deprecated reports whether an image is past its deprecation; one without never is.
func (i *image) deprecated(now time.Time) bool {
	return !i.DeprecatedAt.IsZero() && !i.DeprecatedAt.After(now)
}

// releaseEvery is how often newer images come out, which aliases then lead to.
const releaseEvery = 28 * 24 * time.Hour

// publishDue makes the images that have come out since the account was made.
func (s *state) publishDue(now time.Time) {
	first := s.CreatedAt.AddDate(0, 0, -releaseAges[0])
	for !now.Before(first.Add(time.Duration(s.Released+1) * releaseEvery)) {
		s.Released++
		at := first.Add(time.Duration(s.Released) * releaseEvery).Truncate(24 * time.Hour)
		for _, minor := range publishedMinors(s.Account.EKSVersion) {
			for _, b := range buildsFor(minor) {
				r := release{version: fmt.Sprintf("1.%d", minor), at: at, age: -s.Released}
				img := b.publish(s.Account, r)
				s.Images = append(s.Images, img)
				b.announce(r, img, s.Parameters)
			}
		}
		s.Images = byKey(s.Images, func(i *image) string { return i.ID })
	}
}

func startInstances(c *call) (any, error) {
	return changeInstances(c, func(l live) error {
		if !slices.Contains([]market.State{market.Stopped, market.Running, market.Pending}, l.state) {
			return wire.Errorf("IncorrectInstanceState", "The instance '%s' is not in a state from which it can be started.", l.ID)
		}
		return nil
	}, func(id string) { c.server.market.Start(id) })
}
