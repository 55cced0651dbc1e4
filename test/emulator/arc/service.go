// Package arc emulates the Application Recovery Controller: zonal shifts of the cluster.
package arc

import (
	"github.com/daemok/daemok/test/emulator/world"
)

// Tables are what an account that was exported keeps of it.
type Tables struct {
	Shifts []zonalShift
}

// ARC is the service.
type ARC struct {
	*world.World
	Tables
}

// New is the service as the getting-started guides leave it.
func New(w *world.World) *ARC {
	return &ARC{World: w}
}

// Kept is what Export writes.
func (s *ARC) Kept() any { return &s.Tables }

// Complete adds what an account that an earlier version wrote has not.
func (s *ARC) Complete() {}

// call is one request, and the service that answers it.
type call struct {
	*world.Call
	server *ARC
}

// action is one entry of the service's table.
type action = world.Entry[*call]

// Actions are those that the service answers.
func (s *ARC) Actions() map[string]world.Action {
	return world.Bind(actions(), s.of)
}

func (s *ARC) of(c *world.Call) *call { return &call{c, s} }
