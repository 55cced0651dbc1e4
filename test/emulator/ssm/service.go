// Package ssm emulates the Parameter Store: public parameters of images, and those of the account.
package ssm

import (
	"github.com/daemok/daemok/test/emulator/world"
)

// SSM is the service.
type SSM struct {
	*world.World

	releases releases
}

// New is the service as the getting-started guides leave it.
func New(w *world.World, r releases) *SSM {
	return &SSM{World: w, releases: r}
}

// call is one request, and the service that answers it.
type call struct {
	*world.Call
	server *SSM
}

// action is one entry of the service's table.
type action = world.Entry[*call]

// Actions are those that the service answers.
func (s *SSM) Actions() map[string]world.Action {
	return world.Bind(actions(), s.of)
}

func (s *SSM) of(c *world.Call) *call { return &call{c, s} }

// releases are those of images that have their parameters only once these are asked for.
type releases interface{ RecallParameter(name string) bool }
