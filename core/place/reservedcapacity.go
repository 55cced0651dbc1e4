package place

import (
	"math"
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
)

// countReservedCapacities notes what offers draw on, such as a capacity reservation or the room of
// a placement group. Pools share it, and so do kinds.
func (r *run) countReservedCapacities() {
	for _, b := range r.candidates {
		if !b.limited {
			continue
		}
		for i := range b.Options {
			o := b.Offering(b.Options[i])
			if len(o.ReservedCapacities) == 0 || !o.Available {
				continue
			}
			if r.reservedCapacities == nil {
				r.reservedCapacities = map[string]int64{}
			}
			for _, s := range o.ReservedCapacities {
				if left, known := r.reservedCapacities[s.Name]; !known || s.Left < left {
					r.reservedCapacities[s.Name] = s.Left
				}
			}
		}
	}
	r.countOrders()
	for name, left := range r.reservedCapacities {
		if left <= 0 {
			r.onSale(name)
		}
	}
}

// countOrders takes off what machines on order are to be taken from, as long as
// nobody who offers them knows of it. One that may come from any of several reservations
// has one place of them in all.
func (r *run) countOrders() {
	if r.reservedCapacities == nil {
		return
	}
	var open [][]string
	for i := range r.snapshot.Machines {
		m := &r.snapshot.Machines[i]
		pool, known := r.snapshot.Pool(m.Pool)
		if !known || m.Launched || m.Launching || m.Deleting {
			continue
		}
		drawn := pool.Catalogue.DrawnBy(m)
		for _, name := range drawn.All {
			r.reservedCapacities[name]--
		}
		if len(drawn.Reservations) > 0 {
			open = append(open, drawn.Reservations)
		}
	}
	for _, ids := range open { // after those that can have one alone
		if most := r.mostLeft(ids); most != "" {
			r.reservedCapacities[most]--
		}
	}
}

// mostLeft is which of the capacity reservations has most left, the first by name of several; empty where
// none is known.
func (r *run) mostLeft(names []string) (most string) {
	for _, name := range names {
		if left, known := r.reservedCapacities[name]; known && (most == "" || left > r.reservedCapacities[most]) {
			most = name
		}
	}
	return most
}

// onlyReservedCapacities keeps of what a launch leaves open, where it draws on capacity reservations first,
// what draws on the same alone: what is paid for already may be far larger than what
// would be launched for the same pods, and is counted as taken. Where so little would
// not do for minValues all stays open.
func (b *candidate) onlyReservedCapacities(options bitset.Set, kinds []int) (bitset.Set, []int) {
	first := b.Offering(b.Options[options.Next(0)])
	if len(first.ReservedCapacities) == 0 {
		return options, kinds
	}
	only := options.Clone()
	for i := only.Next(0); i >= 0; i = only.Next(i + 1) {
		if !b.Offering(b.Options[i]).DrawsAlike(first) {
			only.Remove(i)
		}
	}
	left := b.firstKinds(only)
	if b.minValuesShort(only, left) != nil {
		return options, kinds
	}
	b.keepKinds(only, left)
	return only, left
}

// reserved is the first of the options where machines of each are taken from the same
// reservation, by their label; else -1.
func (b *candidate) reserved(options bitset.Set) int {
	first := options.Next(0)
	id, _ := b.Offering(b.Options[first]).Labels.Get(cluster.LabelReservation)
	for i := first; i >= 0; i = options.Next(i + 1) {
		if from, _ := b.Offering(b.Options[i]).Labels.Get(cluster.LabelReservation); from == "" || from != id {
			return -1
		}
	}
	return first
}

// reservedCapacitiesOf is what a machine launched by the option is taken from; nothing where as
// many can be had as anyone wants.
func (b *candidate) reservedCapacitiesOf(option int) []cluster.ReservedCapacity {
	return b.Offering(b.Options[option]).ReservedCapacities
}

// left is how many machines can still be launched by the offering, where that is counted.
func (r *run) left(o *cluster.Offering) int64 {
	out := int64(math.MaxInt64)
	for _, s := range o.ReservedCapacities {
		if left, known := r.reservedCapacities[s.Name]; known {
			out = min(out, left)
		}
	}
	return out
}

// mayStill is how many machines can be launched by the option at most, of n.
func (r *run) mayStill(b *candidate, option int, n int64) int64 {
	return min(n, r.left(b.Offering(b.Options[option])))
}

// takeReservedCapacities accounts for a machine of this plan; the last one of any capacity reservation closes the
// offers that draw on it.
func (r *run) takeReservedCapacities(reservedCapacities []cluster.ReservedCapacity) {
	for _, s := range reservedCapacities {
		r.reservedCapacities[s.Name]--
		if r.reservedCapacities[s.Name] == 0 {
			r.onSale(s.Name)
		}
	}
}

// putBack accounts for a machine that is not ordered after all.
func (r *run) putBack(reservedCapacities []cluster.ReservedCapacity) {
	for _, s := range reservedCapacities {
		r.reservedCapacities[s.Name]++
		if r.reservedCapacities[s.Name] == 1 {
			r.onSale(s.Name)
		}
	}
	if len(reservedCapacities) > 0 {
		clear(r.failed)
	}
}

// onSale opens or closes the offerings that draw on the capacity reservation, by what is left of all that
// they draw on.
func (r *run) onSale(name string) {
	for _, b := range r.candidates {
		any := false
		for i := range b.Options {
			o := b.Offering(b.Options[i])
			if !o.Available || !slices.ContainsFunc(o.ReservedCapacities, func(s cluster.ReservedCapacity) bool { return s.Name == name }) || b.free[b.Options[i].Kind] == nil {
				continue
			}
			if r.left(o) > 0 {
				b.available.Add(i)
			} else {
				b.available.Remove(i)
			}
			any = true
		}
		if any {
			b.narrow()
			b.lots, b.lastLot = nil, nil
			b.rateAll()
		}
	}
	for _, g := range r.groups {
		r.rate(g)
	}
}

// rateAll seeks the highest yields again for pods that are left.
func (b *candidate) rateAll() {
	for at, a := range b.asks {
		if a != nil && b.run.groups[at].left() > 0 {
			b.rate(a)
		}
	}
}
