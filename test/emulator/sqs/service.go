// Package sqs emulates the Simple Queue Service, in its JSON protocol and the older one of forms.
package sqs

import (
	"github.com/daemok/daemok/test/emulator/world"
)

// Tables are what an account that was exported keeps of it.
type Tables struct {
	Queues map[string]*queue // by name
}

// SQS is the service.
type SQS struct {
	*world.World
	Tables
}

// New is the service as the getting-started guides leave it.
func New(w *world.World) *SQS {
	s := &SQS{World: w}
	s.Queues = map[string]*queue{w.Settings.ClusterName: guidesQueue(w.Settings, w.CreatedAt)}
	return s
}

// Kept is what Export writes.
func (s *SQS) Kept() any { return &s.Tables }

// Complete adds what an account that an earlier version wrote has not.
func (s *SQS) Complete() {}

// call is one request, and the service that answers it.
type call struct {
	*world.Call
	server *SQS
}

// action is one entry of the service's table.
type action = world.Entry[*call]

// Actions are those that the service answers.
func (s *SQS) Actions() map[string]world.Action {
	return world.Bind(actions(), s.of)
}

func (s *SQS) of(c *world.Call) *call { return &call{c, s} }
