package launch

import (
	"slices"

	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/identity"
	"github.com/daemok/daemok/test/emulator/world"
)

// needsOfFleet are those of the fleet itself: what it tags, and the launch templates that it names.
func needsOfFleet(c *call, action string) []iampolicy.Call {
	specs, err := world.ReadTagSpecifications(c.Params)
	if err != nil {
		return nil // the handler says what is wrong
	}
	var all []iampolicy.Call
	for _, kind := range []string{"fleet", "instance", "volume"} {
		if given := world.TagsFor(specs, kind); kind == "fleet" || len(given) > 0 {
			all = append(all, identity.Making(c.server.Settings, "CreateFleet", kind, given)...)
		}
	}
	for _, config := range c.Params.List("LaunchTemplateConfigs") {
		spec := config.At("LaunchTemplateSpecification")
		if t, err := c.server.TemplateOf(spec.String("LaunchTemplateId"), spec.String("LaunchTemplateName")); err == nil {
			all = append(all, identity.On(action, c.server.Settings.EC2ARN("launch-template", t.ID), t.Tags))
		}
	}
	return all
}

// ofLaunch are the rights that launching instances needs, whoever asks: every resource that the
// launch names or makes, the tags that it gives, and the role that its instances have.
func (s *Launcher) ofLaunch(l launch) []iampolicy.Call {
	const run = "ec2:RunInstances"
	region := s.Settings.Region
	all := []iampolicy.Call{
		identity.Need(run, "arn:aws:ec2:"+region+"::image/"+l.image.ID),
		identity.On(run, s.Settings.EC2ARN("subnet", l.subnet.ID), l.subnet.Tags),
	}
	for _, id := range l.groups {
		if g, err := s.Group(id); err == nil {
			all = append(all, identity.On(run, s.Settings.EC2ARN("security-group", id), g.Tags))
		}
	}
	if t := l.template; t != nil {
		all = append(all, identity.On(run, s.Settings.EC2ARN("launch-template", t.ID), t.Tags))
	}
	if l.data.KeyName != "" {
		all = append(all, identity.Need(run, s.Settings.EC2ARN("key-pair", l.data.KeyName)))
	}
	if r := l.reservation; r != nil && l.data.Reservation != nil && l.data.Reservation.Target != nil {
		all = append(all, identity.On(run, s.ReservationARN(r), r.Tags))
	}
	if g := l.placement; g != nil {
		all = append(all, identity.On(run, s.Settings.EC2ARN("placement-group", g.Name), g.Tags))
	}
	for _, d := range l.data.Devices {
		if d.EBS != nil && d.EBS.Snapshot != "" {
			all = append(all, identity.Need(run, "arn:aws:ec2:"+region+"::snapshot/"+d.EBS.Snapshot))
		}
	}
	specs := slices.Concat(l.data.Tags, l.tags)
	kinds := []string{"instance", "volume", "network-interface"}
	if l.spot {
		kinds = append(kinds, "spot-instances-request")
	}
	for _, kind := range kinds {
		all = append(all, identity.Making(s.Settings, "RunInstances", kind, world.TagsFor(specs, kind))...)
	}
	if p := l.profile; p != nil && s.Roles[p.Role] != nil {
		all = append(all, s.Passing(s.Roles[p.Role]))
	}
	return all
}
