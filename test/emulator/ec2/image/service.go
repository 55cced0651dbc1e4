// Package image emulates the machine images of EC2: the account's own, and public ones that are released anew as time goes on.
package image

import (
	"github.com/daemok/daemok/test/emulator/world"
)

// Tables are what an account that was exported keeps of it.
type Tables struct {
	Images   []*Image // sorted by ID
	Released int      // how often newer images came out since
}

// Registry is the images that are there, and the parameters that lead to them.
type Registry struct {
	*world.World
	Tables
}

// New is it as the getting-started guides leave it.
func New(w *world.World) *Registry {
	s := &Registry{World: w}
	s.Images, w.Parameters = publishImages(w.Settings, w.CreatedAt)
	return s
}

// Kept is what Export writes.
func (s *Registry) Kept() any { return &s.Tables }

// Complete has nothing to add to an account that an earlier version wrote.
func (s *Registry) Complete() {}

// call is one request, and what answers it.
type call struct {
	*world.Call
	server *Registry
}

// action is one entry of the table of actions.
type action = world.Entry[*call]

// Actions are those of EC2 that are answered here.
func (s *Registry) Actions() map[string]world.Action {
	return world.Bind(actions(), s.of)
}

func (s *Registry) of(c *world.Call) *call { return &call{c, s} }
