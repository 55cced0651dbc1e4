package nodeclaim

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
)

// oneSort keeps of reserved offers, cheapest first, those that one request may
// name: reservations of the cheapest's sort, since machines of each sort are launched
// in a way of their own; of a capacity block the cheapest alone; and of several
// reservations of one type in one zone the one with most left.
func oneSort(list []priced) []priced {
	if len(list) == 0 {
		return nil
	}
	first := slices.MinFunc(list, func(a, b priced) int {
		return cmp.Or(cmp.Compare(a.offering.Price, b.offering.Price), cmp.Compare(sortOf(a), sortOf(b)))
	})
	alike := keep(list, func(p priced) bool { return sortOf(p) == sortOf(first) })
	if sortOf(first) == sortBlock {
		return alike[:1]
	}
	type place struct{ kind, zone string }
	most := map[place]priced{}
	for _, p := range alike {
		at := place{p.instanceType.Name, p.offering.Zone}
		if best, seen := most[at]; !seen || leftIn(p) > leftIn(best) {
			most[at] = p
		}
	}
	return keep(alike, func(p priced) bool { return most[place{p.instanceType.Name, p.offering.Zone}].offering == p.offering })
}

// leftIn is how many machines the reservation of the offering has left.
func leftIn(p priced) int64 { return p.offering.LeftOf(p.offering.Reservation()) }

// roomOf is how many machines the reservations of the options have left together; 0 where
// the options are from none.
func roomOf(options []cloud.OfferingChoice, fitting []priced) (room int) {
	counted := map[string]bool{"": true}
	for _, o := range options {
		at := slices.IndexFunc(fitting, func(p priced) bool { return p.offering.Reservation() == o.ReservedCapacity })
		if !counted[o.ReservedCapacity] && at >= 0 {
			counted[o.ReservedCapacity] = true
			room += int(min(leftIn(fitting[at]), machinesMax))
		}
	}
	return room
}

// The sorts of reservations, in the order in which equals are taken.
const (
	sortDefault = iota
	sortBlock
	sortInterruptible
)

func sortOf(p priced) int {
	kind, _ := p.label(api.LabelReservationType)
	interruptible, _ := p.label(api.LabelReservationInterruptible)
	switch {
	case interruptible == "true":
		return sortInterruptible
	case kind == "capacity-block":
		return sortBlock
	}
	return sortDefault
}
