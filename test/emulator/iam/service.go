// Package iam emulates Identity and Access Management: roles, instance profiles, policies and OIDC providers.
package iam

import (
	"github.com/daemok/daemok/test/emulator/faults"
	"github.com/daemok/daemok/test/emulator/identity"
	"github.com/daemok/daemok/test/emulator/world"
)

// IAM is the service.
type IAM struct {
	*identity.Identity

	faults *faults.Injector
}

// New is the service as the getting-started guides leave it.
func New(i *identity.Identity, f *faults.Injector) *IAM {
	return &IAM{Identity: i, faults: f}
}

// call is one request, and the service that answers it.
type call struct {
	*world.Call
	server *IAM
}

// action is one entry of the service's table.
type action = world.Entry[*call]

// Actions are those that the service answers.
func (s *IAM) Actions() map[string]world.Action {
	return world.Bind(actions(), s.of)
}

func (s *IAM) of(c *world.Call) *call { return &call{c, s} }
