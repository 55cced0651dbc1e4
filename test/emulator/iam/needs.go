package iam

import (
	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/identity"
	"github.com/daemok/daemok/test/emulator/world"
)

func needsOfProfile(c *call, action string) []iampolicy.Call {
	path, err := c.entityPath()
	given, wrong := world.ReadTags(c.Params.List("Tags"))
	if err != nil || wrong != nil {
		return nil
	}
	p := &identity.Profile{Name: c.Params.String("InstanceProfileName"), Path: path}
	arn := c.server.ProfileARN(p)
	all := []iampolicy.Call{identity.Giving(identity.Need(action, arn), given)}
	if len(given) > 0 { // tags in the call that makes it need the right to tag, as of a profile that has them
		all = append(all, identity.Giving(identity.On("iam:TagInstanceProfile", arn, given), given))
	}
	return all
}

// needsOnProfile are those of calls about a profile. Whoever adds a role to one passes it on.
func needsOnProfile(c *call, action string) []iampolicy.Call {
	st, name := c.server, c.Params.String("InstanceProfileName")
	p := st.Profiles[name]
	if p == nil {
		p = &identity.Profile{Name: name, Path: "/"}
	}
	given, err := world.ReadTags(c.Params.List("Tags"))
	if err != nil {
		return nil
	}
	all := []iampolicy.Call{identity.Giving(identity.On(action, st.ProfileARN(p), p.Tags), given)}
	if r := st.Roles[c.Params.String("RoleName")]; r != nil && c.Action == "AddRoleToInstanceProfile" {
		all = append(all, c.server.Passing(r))
	}
	return all
}
