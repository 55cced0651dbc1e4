package offering

import (
	"cmp"
	"slices"
)

// oneReservation keeps of reserved offerings, cheapest first, those that one request may
// name: reservations of the cheapest's kind, since instances of each are launched
// in a way of their own; of a capacity block the cheapest alone; and of several
// reservations of one type in one zone the cheapest, of equals the one with most left.
func (c *chooser) oneReservation(list []Named) []Named {
	first := slices.MinFunc(list, func(a, b Named) int {
		return cmp.Or(cmp.Compare(a.Offering.Price, b.Offering.Price), cmp.Compare(a.reservationKind(), b.reservationKind()))
	})
	kind := first.reservationKind()
	alike := c.keep(list, OtherReservationKind, func(n *Named) bool { return n.reservationKind() == kind })
	if kind == capacityBlock {
		only := alike[0].Offering
		return c.keep(alike, OtherReservation, func(n *Named) bool { return n.Offering == only })
	}
	type place struct{ name, zone string }
	most := map[place]Named{}
	for _, n := range alike {
		at := place{n.Type.Name, n.Offering.Zone}
		best, seen := most[at]
		if !seen || cmp.Or(cmp.Compare(n.Offering.Price, best.Offering.Price), cmp.Compare(best.left(), n.left())) < 0 {
			most[at] = n
		}
	}
	return c.keep(alike, OtherReservation, func(n *Named) bool { return most[place{n.Type.Name, n.Offering.Zone}].Offering == n.Offering })
}

// left is how many instances the reservation of the offering has left.
func (n *Named) left() int64 { return n.Offering.LeftOf(n.Offering.Reservation()) }

// Room is how many instances the reservations of what is named have left together, and no more than a request may ask
// for of each; 0 where it is in none.
func (c *Choice) Room() (room int) {
	counted := map[string]bool{"": true}
	for i := range c.Named {
		n := &c.Named[i]
		if id := n.Offering.Reservation(); !counted[id] {
			counted[id] = true
			room += int(min(n.left(), InstancesMax))
		}
	}
	return room
}

// The kinds of reservations, in the order in which equals are taken.
const (
	defaultReservation = iota
	capacityBlock
	interruptibleReservation
)

func (n *Named) reservationKind() int {
	kind, _ := n.label(labelReservationType)
	interruptible, _ := n.label(labelReservationInterruptible)
	switch {
	case interruptible == "true":
		return interruptibleReservation
	case kind == "capacity-block":
		return capacityBlock
	}
	return defaultReservation
}
