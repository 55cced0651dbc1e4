// Package sts emulates the Security Token Service: who calls, and credentials of roles.
package sts

import (
	"github.com/daemok/daemok/test/emulator/identity"
	"github.com/daemok/daemok/test/emulator/world"
)

// STS is the service.
type STS struct {
	*identity.Identity
}

// New is the service as the getting-started guides leave it.
func New(i *identity.Identity) *STS {
	return &STS{Identity: i}
}

// call is one request, and the service that answers it.
type call struct {
	*world.Call
	server *STS
}

// action is one entry of the service's table.
type action = world.Entry[*call]

// Actions are those that the service answers.
func (s *STS) Actions() map[string]world.Action {
	return world.Bind(actions(), s.of)
}

func (s *STS) of(c *world.Call) *call { return &call{c, s} }
