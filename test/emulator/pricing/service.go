// Package pricing emulates the price list of on-demand instances.
package pricing

import (
	"github.com/daemok/daemok/test/emulator/world"
)

// Pricing is the service.
type Pricing struct {
	*world.World
}

// New is the service as the getting-started guides leave it.
func New(w *world.World) *Pricing {
	return &Pricing{World: w}
}

// call is one request, and the service that answers it.
type call struct {
	*world.Call
	server *Pricing
}

// action is one entry of the service's table.
type action = world.Entry[*call]

// Actions are those that the service answers.
func (s *Pricing) Actions() map[string]world.Action {
	return world.Bind(actions(), s.of)
}

func (s *Pricing) of(c *world.Call) *call { return &call{c, s} }
