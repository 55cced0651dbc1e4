// Package autoscaling emulates Auto Scaling: groups on record, which launch nothing.
package autoscaling

import (
	"github.com/daemok/daemok/test/emulator/world"
)

// Tables are what an account that was exported keeps of it.
type Tables struct {
	Scaling map[string]*scalingGroup // by name
}

// Scaling is the service.
type Scaling struct {
	*world.World
	Tables
}

// New is the service as the getting-started guides leave it.
func New(w *world.World) *Scaling {
	s := &Scaling{World: w}
	s.Complete()
	return s
}

// Kept is what Export writes.
func (s *Scaling) Kept() any { return &s.Tables }

// Complete adds what an account that an earlier version wrote has not.
func (s *Scaling) Complete() {
	if s.Scaling == nil {
		s.Scaling = map[string]*scalingGroup{}
	}
}

// call is one request, and the service that answers it.
type call struct {
	*world.Call
	server *Scaling
}

// action is one entry of the service's table.
type action = world.Entry[*call]

// Actions are those that the service answers.
func (s *Scaling) Actions() map[string]world.Action {
	return world.Bind(actions(), s.of)
}

func (s *Scaling) of(c *world.Call) *call { return &call{c, s} }
