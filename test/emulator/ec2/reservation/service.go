// Package reservation emulates the capacity reservations of EC2, and the quotas of vCPUs that they count against.
package reservation

import (
	"github.com/daemok/daemok/test/emulator/ec2/placement"
	"github.com/daemok/daemok/test/emulator/world"
)

// Tables are what an account that was exported keeps of it.
type Tables struct {
	Reservations map[string]*Reservation // by ID
}

// Ledger is the capacity reservations of the account.
type Ledger struct {
	*placement.Layout
	Tables
}

// New is it as the getting-started guides leave it.
func New(l *placement.Layout) *Ledger {
	s := &Ledger{Layout: l}
	s.Reservations = map[string]*Reservation{}
	return s
}

// Kept is what Export writes.
func (s *Ledger) Kept() any { return &s.Tables }

// Complete has nothing to add to an account that an earlier version wrote.
func (s *Ledger) Complete() {}

// call is one request, and what answers it.
type call struct {
	*world.Call
	server *Ledger
}

// action is one entry of the table of actions.
type action = world.Entry[*call]

// Actions are those of EC2 that are answered here.
func (s *Ledger) Actions() map[string]world.Action {
	return world.Bind(actions(), s.of)
}

func (s *Ledger) of(c *world.Call) *call { return &call{c, s} }
