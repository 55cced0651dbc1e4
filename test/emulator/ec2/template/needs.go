package template

import (
	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/identity"
	"github.com/daemok/daemok/test/emulator/world"
)

func needsOfTemplate(c *call, _ string) []iampolicy.Call {
	specs, err := world.ReadTagSpecifications(c.Params)
	if err != nil {
		return nil
	}
	return identity.Making(c.server.Settings, "CreateLaunchTemplate", "launch-template", world.TagsFor(specs, "launch-template"))
}

func needsOnTemplate(c *call, action string) []iampolicy.Call {
	t, err := c.namedTemplate()
	if err != nil {
		return nil
	}
	return []iampolicy.Call{identity.On(action, c.server.Settings.EC2ARN("launch-template", t.ID), t.Tags)}
}
