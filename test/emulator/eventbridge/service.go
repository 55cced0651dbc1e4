// Package eventbridge emulates EventBridge: the default bus, its rules, and their targets as far as these are queues.
//
// Patterns may ask for values, prefixes and existence; others are refused.
package eventbridge

import (
	"time"

	"github.com/daemok/daemok/test/emulator/world"
)

// Tables are what an account that was exported keeps of it.
type Tables struct {
	Rules map[string]*rule // by name
}

// Bus is the service.
type Bus struct {
	*world.World
	Tables

	queues queues
}

// New is the service as the getting-started guides leave it.
func New(w *world.World, q queues) *Bus {
	s := &Bus{World: w, queues: q}
	s.Complete()
	return s
}

// Kept is what Export writes.
func (s *Bus) Kept() any { return &s.Tables }

// Complete adds what an account that an earlier version wrote has not.
func (s *Bus) Complete() {
	if s.Rules == nil {
		s.Rules = newRules(s.Settings)
	}
}

// call is one request, and the service that answers it.
type call struct {
	*world.Call
	server *Bus
}

// action is one entry of the service's table.
type action = world.Entry[*call]

// Actions are those that the service answers.
func (s *Bus) Actions() map[string]world.Action {
	return world.Bind(actions(), s.of)
}

func (s *Bus) of(c *world.Call) *call { return &call{c, s} }

// queues are where events go.
type queues interface {
	Deliver(arn, text string, at time.Time)
}
