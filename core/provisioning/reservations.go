package provisioning

import (
	"math"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/coverage"
	"github.com/daemok/daemok/core/supply"
)

// reservations counts what is left of capacity reservations, and of the room of placement groups, while instances
// are planned.
type reservations struct {
	pr   *Provisioner
	Left map[string]int64 // instances that are left of each capacity reservation, see Count
}

// Count counts what offerings draw on, such as a capacity reservation or the room of a placement group. Pools share it,
// and so do instance types.
func (v *reservations) Count(s *cluster.Snapshot) {
	for _, b := range v.pr.Candidates {
		if !b.Limited {
			continue
		}
		for i := range b.Options {
			o := b.Offering(b.Options[i])
			if len(o.ReservedCapacities) == 0 || !o.Available {
				continue
			}
			if v.Left == nil {
				v.Left = map[string]int64{}
			}
			for _, s := range o.ReservedCapacities {
				if left, known := v.Left[s.Name]; !known || s.Left < left {
					v.Left[s.Name] = s.Left
				}
			}
		}
	}
	v.countLaunches(s)
	committed := v.countCommitments(s)
	for name, left := range v.Left {
		if left <= 0 || committed[name] { // less may be left than some instances take
			v.reopen(name)
		}
	}
}

// countLaunches subtracts instances that are being launched, as long as the cloud does not count them yet. One that may
// come from any of several reservations takes one place of all of them together.
func (v *reservations) countLaunches(s *cluster.Snapshot) {
	if v.Left == nil {
		return
	}
	var open [][]string
	for i := range s.Instances {
		m := &s.Instances[i]
		pool, known := s.Pool(m.Pool)
		if !known || m.Launched || m.Launching || m.Deleting {
			continue
		}
		drawn := pool.Catalogue.DrawnBy(m)
		for _, name := range drawn.All {
			v.Left[name]--
		}
		if len(drawn.Reservations) > 0 {
			open = append(open, drawn.Reservations)
		}
	}
	for _, ids := range open { // after those that draw on certain ones
		if most := v.mostLeft(ids); most != "" {
			v.Left[most]--
		}
	}
}

// countCommitments counts what is left of commitments, and names those that it has counted.
func (v *reservations) countCommitments(s *cluster.Snapshot) map[string]bool {
	if v.Left == nil {
		return nil
	}
	out := map[string]bool{}
	for _, left := range coverage.FleetOf(s).Left() {
		if _, known := v.Left[left.Name]; known {
			v.Left[left.Name], out[left.Name] = left.Left, true
		}
	}
	return out
}

// Recount takes in what is left of commitments by now, and opens and closes offerings.
func (v *reservations) Recount(left []cluster.ReservedCapacity) {
	for _, now := range left {
		if was, known := v.Left[now.Name]; known && was != now.Left {
			v.Left[now.Name] = now.Left
			v.reopen(now.Name)
		}
	}
}

// mostLeft returns the capacity reservation that has most left, of equal ones the first in the list; empty where none
// is known.
func (v *reservations) mostLeft(names []string) (most string) {
	for _, name := range names {
		if left, known := v.Left[name]; known && (most == "" || left > v.Left[most]) {
			most = name
		}
	}
	return most
}

// Of is how many instances can still be launched by the offering, where that is counted.
func (v *reservations) Of(o *cluster.Offering) int64 {
	out := int64(math.MaxInt64)
	for _, s := range o.ReservedCapacities {
		if left, known := v.Left[s.Name]; known {
			out = min(out, left/s.Takes())
		}
	}
	return out
}

// MayStill is how many of n instances can still be launched by the option.
func (v *reservations) MayStill(b *supply.Candidate, option int, n int64) int64 {
	return min(n, v.Of(b.Offering(b.Options[option])))
}

// Take accounts for an instance of this plan. What it takes may close offerings that draw on the same.
func (v *reservations) Take(reservedCapacities []cluster.ReservedCapacity) {
	for _, s := range reservedCapacities {
		v.Left[s.Name] -= s.Takes()
		if s.OfCommitment() || v.Left[s.Name] == 0 {
			v.reopen(s.Name)
		}
	}
}

// PutBack accounts for an instance that is not launched after all.
func (v *reservations) PutBack(reservedCapacities []cluster.ReservedCapacity) {
	for _, s := range reservedCapacities {
		v.Left[s.Name] += s.Takes()
		if s.OfCommitment() || v.Left[s.Name] == 1 {
			v.reopen(s.Name)
		}
	}
	if len(reservedCapacities) > 0 {
		clear(v.pr.Failed)
	}
}

// reopen opens or closes the offerings that draw on the capacity reservation, by what is left of all that
// they draw on.
func (v *reservations) reopen(name string) {
	for _, b := range v.pr.Candidates {
		any := false
		for i := range b.Options {
			o := b.Offering(b.Options[i])
			if !o.Available || !slices.ContainsFunc(o.ReservedCapacities, func(s cluster.ReservedCapacity) bool { return s.Name == name }) || b.Free[b.Options[i].Kind] == nil {
				continue
			}
			if v.Of(o) > 0 {
				b.AvailableNow.Add(i)
			} else {
				b.AvailableNow.Remove(i)
			}
			any = true
		}
		if any {
			b.Reopen()
			v.pr.rateAll(b)
		}
	}
	for _, g := range v.pr.Groups {
		v.pr.rate(g)
	}
}
