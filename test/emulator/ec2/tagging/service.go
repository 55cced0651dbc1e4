// Package tagging emulates how EC2 changes and lists the tags of all that it has.
package tagging

import (
	"github.com/daemok/daemok/test/emulator/ec2/launch"
	"github.com/daemok/daemok/test/emulator/world"
)

// Tagger is what changes and lists tags.
type Tagger struct {
	*launch.Launcher
}

// New is it as the getting-started guides leave it.
func New(l *launch.Launcher) *Tagger {
	return &Tagger{Launcher: l}
}

// call is one request, and what answers it.
type call struct {
	*world.Call
	server *Tagger
}

// action is one entry of the table of actions.
type action = world.Entry[*call]

// Actions are those of EC2 that are answered here.
func (s *Tagger) Actions() map[string]world.Action {
	return world.Bind(actions(), s.of)
}

func (s *Tagger) of(c *world.Call) *call { return &call{c, s} }
