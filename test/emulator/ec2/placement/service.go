// Package placement emulates the placement groups of EC2.
package placement

import (
	"github.com/daemok/daemok/test/emulator/ec2/instance"
	"github.com/daemok/daemok/test/emulator/world"
)

// Tables are what an account that was exported keeps of it.
type Tables struct {
	Placements map[string]*Group // by ID
}

// Layout is the placement groups of the account.
type Layout struct {
	*instance.Inventory
	Tables
}

// New is it as the getting-started guides leave it.
func New(i *instance.Inventory) *Layout {
	s := &Layout{Inventory: i}
	s.Placements = map[string]*Group{}
	return s
}

// Kept is what Export writes.
func (s *Layout) Kept() any { return &s.Tables }

// Complete has nothing to add to an account that an earlier version wrote.
func (s *Layout) Complete() {}

// call is one request, and what answers it.
type call struct {
	*world.Call
	server *Layout
}

// action is one entry of the table of actions.
type action = world.Entry[*call]

// Actions are those of EC2 that are answered here.
func (s *Layout) Actions() map[string]world.Action {
	return world.Bind(actions(), s.of)
}

func (s *Layout) of(c *world.Call) *call { return &call{c, s} }
