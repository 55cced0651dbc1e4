// Package template emulates the launch templates of EC2, and reads what they and launches say of instances.
package template

import (
	"github.com/daemok/daemok/test/emulator/world"
)

// Tables are what an account that was exported keeps of it.
type Tables struct {
	Templates map[string]*Template // by ID
}

// Store is the launch templates of the account.
type Store struct {
	*world.World
	Tables
}

// New is it as the getting-started guides leave it.
func New(w *world.World) *Store {
	s := &Store{World: w}
	s.Templates = map[string]*Template{}
	return s
}

// Kept is what Export writes.
func (s *Store) Kept() any { return &s.Tables }

// Complete has nothing to add to an account that an earlier version wrote.
func (s *Store) Complete() {}

// call is one request, and what answers it.
type call struct {
	*world.Call
	server *Store
}

// action is one entry of the table of actions.
type action = world.Entry[*call]

// Actions are those of EC2 that are answered here.
func (s *Store) Actions() map[string]world.Action {
	return world.Bind(actions(), s.of)
}

func (s *Store) of(c *world.Call) *call { return &call{c, s} }
