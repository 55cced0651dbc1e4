// Package commitment emulates what the account has committed to pay for: the Reserved Instances of EC2, and Savings
// Plans with their rates.
package commitment

import (
	"github.com/daemok/daemok/test/emulator/world"
)

// Tables are what an account that was exported keeps of it.
type Tables struct {
	Reserved []ReservedInstances // as they were added
	Plans    []Plan              // as they were added
}

// Commitments are those of the account, and the services that list them.
type Commitments struct {
	*world.World
	Tables
}

// New is an account without commitments.
func New(w *world.World) *Commitments {
	return &Commitments{World: w}
}

// Kept is what Export writes.
func (s *Commitments) Kept() any { return &s.Tables }

// Complete has nothing to add to an account that an earlier version wrote.
func (s *Commitments) Complete() {}

// call is one request, and the commitments that it asks about.
type call struct {
	*world.Call
	server *Commitments
}

// action is one entry of a table of actions.
type action = world.Entry[*call]

// ReservedActions are those of EC2 that are answered here.
func (s *Commitments) ReservedActions() map[string]world.Action {
	return world.Bind(reservedActions(), s.of)
}

// PlanActions are those of Savings Plans.
func (s *Commitments) PlanActions() map[string]world.Action {
	return world.Bind(planActions(), s.of)
}

func (s *Commitments) of(c *world.Call) *call { return &call{c, s} }
