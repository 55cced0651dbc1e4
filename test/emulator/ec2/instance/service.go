// Package instance emulates the instances of EC2: their states, status checks, volumes and network interfaces.
package instance

import (
	"time"

	"github.com/daemok/daemok/test/emulator/ec2/image"
	"github.com/daemok/daemok/test/emulator/ec2/network"
	"github.com/daemok/daemok/test/emulator/identity"
	"github.com/daemok/daemok/test/emulator/world"
)

// Tables are what an account that was exported keeps of it.
type Tables struct {
	Records    map[string]*Instance          `json:"Instances"` // by ID
	Interfaces map[string]*DetachedInterface // that instances do not hold, by ID
}

// Inventory is the instances of the account, with their volumes and network interfaces.
type Inventory struct {
	*world.World
	*identity.Identity
	*network.Network
	*image.Registry
	Tables

	reserved reserved
	bus      bus
}

// New is it as the getting-started guides leave it.
func New(i *identity.Identity, n *network.Network, r *image.Registry, l reserved, b bus) *Inventory {
	s := &Inventory{World: i.World, Identity: i, Network: n, Registry: r, reserved: l, bus: b}
	s.Records = map[string]*Instance{}
	return s
}

// Kept is what Export writes.
func (s *Inventory) Kept() any { return &s.Tables }

// Complete has nothing to add to an account that an earlier version wrote.
func (s *Inventory) Complete() {}

// call is one request, and what answers it.
type call struct {
	*world.Call
	server *Inventory
}

// action is one entry of the table of actions.
type action = world.Entry[*call]

// Actions are those of EC2 that are answered here.
func (s *Inventory) Actions() map[string]world.Action {
	return world.Bind(actions(), s.of)
}

func (s *Inventory) of(c *world.Call) *call { return &call{c, s} }

// reserved are the capacity reservations that instances run in.
type reserved interface {
	AdvanceReservations(now time.Time)
	ReservationOf(id string, now time.Time) string
}

// bus is where events go.
type bus interface{ Post(e world.Event) }
