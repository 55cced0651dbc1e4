package instance

import (
	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/identity"
)

func needsOnInstances(c *call, action string) (all []iampolicy.Call) {
	for _, id := range c.Params.Strings("InstanceId") {
		if i := c.server.Records[id]; i != nil {
			all = append(all, identity.On(action, c.server.Settings.EC2ARN("instance", id), i.Tags))
		}
	}
	return all
}
