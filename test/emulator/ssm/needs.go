package ssm

import (
	"strings"

	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/identity"
)

func needsOnParameter(c *call, action string) []iampolicy.Call {
	var in struct{ Name string }
	if c.Decode(&in) != nil {
		return nil
	}
	a := c.server.Settings
	switch {
	case strings.HasPrefix(in.Name, "arn:"):
		return []iampolicy.Call{identity.Need(action, in.Name)}
	case strings.HasPrefix(in.Name, "/aws/"):
		return []iampolicy.Call{identity.Need(action, "arn:aws:ssm:"+a.Region+"::parameter"+in.Name)}
	}
	return []iampolicy.Call{identity.Need(action, a.ARN("ssm", a.Region, "parameter/"+strings.TrimPrefix(in.Name, "/")))}
}
