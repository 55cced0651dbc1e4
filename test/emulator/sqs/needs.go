package sqs

import (
	iampolicy "github.com/daemok/daemok/cloud/aws/policy"
	"github.com/daemok/daemok/test/emulator/identity"
	"github.com/daemok/daemok/test/emulator/world"
)

func needsOnQueue(c *call, action string) []iampolicy.Call {
	var in struct {
		QueueUrl  string //nolint:revive // the name on the wire
		QueueName string
	}
	if c.Decode(&in) != nil {
		return nil
	}
	name := in.QueueName
	if name == "" {
		name = world.ResourceName(in.QueueUrl)
	}
	a := c.server.Settings
	return []iampolicy.Call{identity.Need(action, a.ARN("sqs", a.Region, name))}
}
