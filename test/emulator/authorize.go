package emulator

import (
	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/identity"
	"github.com/daemok/daemok/test/emulator/world"
)

// ofCall are the rights that the call itself needs, by its action; what launches need is told by
// ofLaunch. Actions that are not named need one right, on all resources.
func (s *Server) ofCall(c *world.Call) []iampolicy.Call {
	action := c.Service + ":" + iamAction(c.Action)
	if needs := s.tables[c.Service][c.Action].Needs; needs != nil {
		return needs(c, action)
	}
	return []iampolicy.Call{identity.Need(action, "*")}
}

// iamAction is the action that is checked: batches of SQS need the right to the single one.
func iamAction(action string) string {
	for _, one := range []string{"DeleteMessage", "SendMessage", "ChangeMessageVisibility"} {
		if action == one+"Batch" {
			return one
		}
	}
	return action
}
