// Package network emulates the networks of EC2: VPCs, subnets with their addresses, security groups, and names inside them.
package network

import (
	"time"

	"github.com/daemok/daemok/test/emulator/world"
)

// Tables are what an account that was exported keeps of it.
type Tables struct {
	VPCs    []*VPC           // the cluster's first, then by age
	Subnets []*Subnet        // sorted by ID
	Groups  []*SecurityGroup // sorted by ID
}

// Network is the networks, subnets and security groups of the account.
type Network struct {
	*world.World
	Tables

	members members
}

// New is it as the getting-started guides leave it.
func New(w *world.World, m members) *Network {
	s := &Network{World: w, members: m}
	own := newVPC(w.Settings)
	s.VPCs = []*VPC{own}
	s.Subnets = newSubnets(w.Settings, own.ID, w.Zones)
	s.Groups = newGroups(w.Settings, own.ID)
	return s
}

// Kept is what Export writes.
func (s *Network) Kept() any { return &s.Tables }

// Complete has nothing to add to an account that an earlier version wrote.
func (s *Network) Complete() {}

// call is one request, and what answers it.
type call struct {
	*world.Call
	server *Network
}

// action is one entry of the table of actions.
type action = world.Entry[*call]

// Actions are those of EC2 that are answered here.
func (s *Network) Actions() map[string]world.Action {
	return world.Bind(actions(), s.of)
}

func (s *Network) of(c *world.Call) *call { return &call{c, s} }

// members are the instances in security groups.
type members interface {
	InGroup(group string, now time.Time) bool
}
