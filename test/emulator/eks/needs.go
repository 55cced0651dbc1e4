package eks

import (
	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/identity"
)

func needsOnCluster(c *call, action string) []iampolicy.Call {
	a := c.server.Settings
	return []iampolicy.Call{identity.Need(action, a.ARN("eks", a.Region, "cluster/"+c.Names["cluster"]))}
}
