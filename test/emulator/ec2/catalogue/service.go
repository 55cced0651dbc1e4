// Package catalogue answers which instance types EC2 offers where, and for which spot prices.
package catalogue

import (
	"github.com/daemok/daemok/test/emulator/world"
)

// Catalogue answers what is offered.
type Catalogue struct {
	*world.World
}

// New is it as the getting-started guides leave it.
func New(w *world.World) *Catalogue {
	return &Catalogue{World: w}
}

// call is one request, and what answers it.
type call struct {
	*world.Call
	server *Catalogue
}

// action is one entry of the table of actions.
type action = world.Entry[*call]

// Actions are those of EC2 that are answered here.
func (s *Catalogue) Actions() map[string]world.Action {
	return world.Bind(actions(), s.of)
}

func (s *Catalogue) of(c *world.Call) *call { return &call{c, s} }
