// Package fis emulates the Fault Injection Service: experiments that interrupt spot instances.
package fis

import (
	"time"

	"github.com/daemok/daemok/test/emulator/world"
)

// Tables are what an account that was exported keeps of it.
type Tables struct {
	Experiments experiments
}

// FIS is the service.
type FIS struct {
	*world.World
	Tables

	instances instances
}

// New is the service as the getting-started guides leave it.
func New(w *world.World, m instances) *FIS {
	s := &FIS{World: w, instances: m}
	s.Complete()
	return s
}

// Kept is what Export writes.
func (s *FIS) Kept() any { return &s.Tables }

// Complete adds what an account that an earlier version wrote has not.
func (s *FIS) Complete() {
	if s.Experiments.Templates == nil {
		s.Experiments = newExperiments()
	}
}

// call is one request, and the service that answers it.
type call struct {
	*world.Call
	server *FIS
}

// action is one entry of the service's table.
type action = world.Entry[*call]

// Actions are those that the service answers.
func (s *FIS) Actions() map[string]world.Action {
	return world.Bind(actions(), s.of)
}

func (s *FIS) of(c *world.Call) *call { return &call{c, s} }

// instances are the instances of the account.
type instances interface {
	Visible(now time.Time) []world.Instance
}
