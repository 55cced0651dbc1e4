// Package servicequotas emulates Service Quotas: those of EC2 that limit vCPUs.
package servicequotas

import (
	"github.com/daemok/daemok/test/emulator/world"
)

// ServiceQuotas is the service.
type ServiceQuotas struct {
	*world.World
}

// New is the service as the getting-started guides leave it.
func New(w *world.World) *ServiceQuotas {
	return &ServiceQuotas{World: w}
}

// call is one request, and the service that answers it.
type call struct {
	*world.Call
	server *ServiceQuotas
}

// action is one entry of the service's table.
type action = world.Entry[*call]

// Actions are those that the service answers.
func (s *ServiceQuotas) Actions() map[string]world.Action {
	return world.Bind(actions(), s.of)
}

func (s *ServiceQuotas) of(c *world.Call) *call { return &call{c, s} }
