// Package elb emulates Elastic Load Balancing: target groups and the health of their targets.
package elb

import (
	"time"

	"github.com/daemok/daemok/test/emulator/world"
)

// Tables are what an account that was exported keeps of it.
type Tables struct {
	TargetGroups map[string]*targetGroup // by ARN
}

// ELB is the service.
type ELB struct {
	*world.World
	Tables

	instances instances
}

// New is the service as the getting-started guides leave it.
func New(w *world.World, m instances) *ELB {
	s := &ELB{World: w, instances: m}
	s.Complete()
	return s
}

// Kept is what Export writes.
func (s *ELB) Kept() any { return &s.Tables }

// Complete adds what an account that an earlier version wrote has not.
func (s *ELB) Complete() {
	if s.TargetGroups == nil {
		s.TargetGroups = map[string]*targetGroup{}
	}
}

// call is one request, and the service that answers it.
type call struct {
	*world.Call
	server *ELB
}

// action is one entry of the service's table.
type action = world.Entry[*call]

// Actions are those that the service answers.
func (s *ELB) Actions() map[string]world.Action {
	return world.Bind(actions(), s.of)
}

func (s *ELB) of(c *world.Call) *call { return &call{c, s} }

// instances are the instances of the account.
type instances interface {
	Sees(id string, now time.Time) bool
}
