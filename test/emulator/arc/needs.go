package arc

import (
	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/identity"
)

func needsOnManaged(c *call, action string) []iampolicy.Call {
	n := identity.Need(action, c.Names["resource"])
	n.Context.Set("arc-zonal-shift:ResourceIdentifier", c.Names["resource"])
	return []iampolicy.Call{n}
}
