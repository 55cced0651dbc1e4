package emulator

import (
	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/identity"
	"github.com/daemok/daemok/test/emulator/world"
)

// making are the needs of an action that makes something of a kind, and tags it: "if tags are
// specified in the resource-creating action, Amazon performs additional authorization on the
// ec2:CreateTags action".
func (s *Server) making(action, kind string, given world.Tags) []iampolicy.Call {
	resource := s.ec2ARN(kind, "*")
	all := []iampolicy.Call{identity.Giving(identity.Need("ec2:"+action, resource), given)}
	if len(given) > 0 {
		tagged := identity.Giving(identity.Need("ec2:CreateTags", resource), given)
		tagged.Context.Set("ec2:CreateAction", action)
		all = append(all, tagged)
	}
	return all
}

func (s *Server) ec2ARN(kind, id string) string {
	return s.Settings.ARN("ec2", s.Settings.Region, kind+"/"+id)
}

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
