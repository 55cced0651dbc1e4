// Package launch emulates how EC2 launches instances: by RunInstances, and by fleets of type instant.
package launch

import (
	"github.com/daemok/daemok/test/emulator/ec2/reservation"
	"github.com/daemok/daemok/test/emulator/ec2/template"
	"github.com/daemok/daemok/test/emulator/faults"
	"github.com/daemok/daemok/test/emulator/world"
)

// Tables are what an account that was exported keeps of it.
type Tables struct {
	Fleets map[string]*fleet // by ID
}

// Launcher is what launches instances, alone and in fleets.
type Launcher struct {
	*world.World
	*reservation.Ledger
	*template.Store
	*faults.Injector
	Tables
}

// New is it as the getting-started guides leave it.
func New(l *reservation.Ledger, t *template.Store, f *faults.Injector) *Launcher {
	s := &Launcher{World: l.World, Ledger: l, Store: t, Injector: f}
	s.Fleets = map[string]*fleet{}
	return s
}

// Kept is what Export writes.
func (s *Launcher) Kept() any { return &s.Tables }

// Complete has nothing to add to an account that an earlier version wrote.
func (s *Launcher) Complete() {}

// call is one request, and what answers it.
type call struct {
	*world.Call
	server *Launcher
}

// action is one entry of the table of actions.
type action = world.Entry[*call]

// Actions are those of EC2 that are answered here.
func (s *Launcher) Actions() map[string]world.Action {
	return world.Bind(actions(), s.of)
}

func (s *Launcher) of(c *world.Call) *call { return &call{c, s} }
