package tagging

import (
	"strings"
	"time"

	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/identity"
	"github.com/daemok/daemok/test/emulator/wire"
	"github.com/daemok/daemok/test/emulator/world"
)

const taggedPerCall = 1000

// tagged is a resource that tags can be put on.
type tagged struct {
	id, kind string
	tags     *world.Tags
}

// taggedAll lists everything that has tags and that AWS sees by now. The lock
// is held.
func (s *Tagger) taggedAll(now time.Time) []tagged {
	var all []tagged
	for _, v := range s.VPCs {
		all = append(all, tagged{v.ID, "vpc", &v.Tags})
	}
	for _, sub := range s.Subnets {
		all = append(all, tagged{sub.ID, "subnet", &sub.Tags})
	}
	for _, g := range s.Groups {
		all = append(all, tagged{g.ID, "security-group", &g.Tags})
	}
	for _, i := range s.Images {
		all = append(all, tagged{i.ID, "image", &i.Tags})
	}
	for _, t := range s.Templates {
		all = append(all, tagged{t.ID, "launch-template", &t.Tags})
	}
	for _, r := range s.Reservations {
		all = append(all, tagged{r.ID, "capacity-reservation", &r.Tags})
	}
	for _, g := range s.Placements {
		all = append(all, tagged{g.ID, "placement-group", &g.Tags})
	}
	for _, f := range s.Fleets {
		all = append(all, tagged{f.ID, "fleet", &f.Tags})
	}
	for _, n := range s.Interfaces {
		all = append(all, tagged{n.ID, "network-interface", &n.Tags})
	}
	for _, l := range s.Seen(now) {
		all = append(all, tagged{l.ID, "instance", &l.Tags})
		for i := range l.Volumes {
			all = append(all, tagged{l.Volumes[i].ID, "volume", &l.Volumes[i].Tags})
		}
		for i := range l.Interfaces {
			all = append(all, tagged{l.Interfaces[i].ID, "network-interface", &l.Interfaces[i].Tags})
		}
	}
	return world.ByKey(all, func(t tagged) string { return t.id })
}

// notFoundCodes are EC2's codes for missing resources, by the ID's prefix.
var notFoundCodes = map[string]string{
	"i": "InvalidInstanceID.NotFound", "subnet": "InvalidSubnetID.NotFound", "sg": "InvalidSecurityGroupID.NotFound",
	"ami": "InvalidAMIID.NotFound", "vpc": "InvalidVpcID.NotFound", "vol": "InvalidVolume.NotFound",
	"lt": "InvalidLaunchTemplateId.NotFound", "cr": "InvalidCapacityReservationId.NotFound", "pg": "InvalidPlacementGroup.Unknown", "eni": "InvalidNetworkInterfaceID.NotFound",
}

// taggedByID finds the resources of a request: all or none.
func (s *Tagger) taggedByID(ids []string, now time.Time) ([]tagged, error) {
	if len(ids) == 0 || len(ids) > taggedPerCall {
		return nil, wire.Errorf("InvalidParameterValue", "Between 1 and %d resource IDs are needed", taggedPerCall)
	}
	all := map[string]tagged{}
	for _, t := range s.taggedAll(now) {
		all[t.id] = t
	}
	var found []tagged
	for _, id := range ids {
		t, known := all[id]
		if known {
			found = append(found, t)
			continue
		}
		prefix, _, _ := strings.Cut(id, "-")
		if code, ok := notFoundCodes[prefix]; ok {
			return nil, wire.Errorf(code, "The ID '%s' does not exist", id)
		}
		return nil, wire.Errorf("InvalidID", "The ID '%s' is not valid", id)
	}
	return found, nil
}

// createTags adds or replaces tags on all resources or on none. Filters see
// them a little later.
func createTags(c *call) (any, error) {
	added, err := world.ReadTags(c.Params.List("Tag"))
	if err != nil {
		return nil, err
	}
	if len(added) == 0 {
		return nil, wire.Errorf("MissingParameter", "The request must contain the parameter Tag")
	}
	found, err := c.server.taggedByID(c.Params.Strings("ResourceId"), c.At)
	if err != nil {
		return nil, err
	}
	for _, t := range found {
		if err := world.CheckTagCount(t.tags.WithAll(added)); err != nil {
			return nil, err
		}
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	for i := range added {
		added[i].SearchableAt = c.At.Add(c.server.TagLag())
	}
	for _, t := range found {
		*t.tags = t.tags.WithAll(added)
	}
	return nil, nil
}

// deleteTags removes tags by key, or by key and value where a value is given;
// without keys it removes all that are not AWS's own.
func deleteTags(c *call) (any, error) {
	found, err := c.server.taggedByID(c.Params.Strings("ResourceId"), c.At)
	if err != nil {
		return nil, err
	}
	named := c.Params.List("Tag")
	for _, n := range named {
		if strings.HasPrefix(strings.ToLower(n.String("Key")), "aws:") {
			return nil, wire.Errorf("InvalidParameterValue", "Tag keys starting with 'aws:' are reserved for internal use")
		}
	}
	if err := c.Commit(); err != nil {
		return nil, err
	}
	for _, t := range found {
		*t.tags = removeTags(*t.tags, named)
	}
	return nil, nil
}

func removeTags(t world.Tags, named []*wire.Node) world.Tags {
	if len(named) == 0 {
		for _, key := range t.Keys() {
			if !strings.HasPrefix(key, "aws:") {
				t = t.Without(key)
			}
		}
		return t
	}
	for _, n := range named {
		key := n.String("Key")
		if !n.Has("Value") || n.String("Value") == t.Get(key) {
			t = t.Without(key)
		}
	}
	return t
}

// tagRow is one item of DescribeTags.
type tagRow struct {
	Key      string `xml:"key"`
	Resource string `xml:"resourceId"`
	Kind     string `xml:"resourceType"`
	Value    string `xml:"value"`
}

func describeTags(c *call) (any, error) {
	var rows []tagRow
	for _, t := range c.server.taggedAll(c.At) {
		for _, a := range t.tags.Searchable(c.At) {
			rows = append(rows, tagRow{a.Key, t.id, t.kind, a.Value})
		}
	}
	known := world.Fields[tagRow]{
		"key":           world.One(func(r tagRow) string { return r.Key }),
		"resource-id":   world.One(func(r tagRow) string { return r.Resource }),
		"resource-type": world.One(func(r tagRow) string { return r.Kind }),
		"value":         world.One(func(r tagRow) string { return r.Value }),
	}
	found, err := world.Matching(c.Params, rows, known, func(r tagRow) world.Tags { return world.Tags{{Key: r.Key, Value: r.Value}} })
	if err != nil {
		return nil, err
	}
	key := func(r tagRow) string { return r.Resource + " " + r.Key }
	page, next, err := world.Paged(c.Call, world.ByKey(found, key), world.PageLimits{Least: 5, Most: 1000, Unasked: 1000}, key)
	if err != nil {
		return nil, err
	}
	return struct {
		Tags []tagRow `xml:"tagSet>item"`
		Next string   `xml:"nextToken,omitempty"`
	}{page, next}, nil
}

func needsOnTagged(c *call, action string) (all []iampolicy.Call) {
	given, err := world.ReadTags(c.Params.List("Tag"))
	found, missing := c.server.taggedByID(c.Params.Strings("ResourceId"), c.At)
	if err != nil || missing != nil {
		return nil
	}
	for _, t := range found {
		all = append(all, identity.Giving(identity.On(action, c.server.Settings.EC2ARN(t.kind, t.id), *t.tags), given))
	}
	return all
}
