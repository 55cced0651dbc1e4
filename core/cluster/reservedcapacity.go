package cluster

import (
	"slices"

	"github.com/daemok/daemok/core/constraint"
)

// ReservedCapacity is what is had so many times only: room in a capacity reservation, for
// instances of a placement group in one zone, or in a commitment.
type ReservedCapacity struct {
	Name  string // shared by all offerings that draw on it, of whatever instance type and pool
	Left  int64  // instances that are left, less those being launched; of a commitment its units
	Units int64  // of a commitment: how many of Left one instance takes; 0: it is none, and one instance takes one
}

// OfCommitment reports whether it is room in a commitment.
func (r ReservedCapacity) OfCommitment() bool { return r.Units > 0 }

// Takes is how much of Left one instance takes.
func (r ReservedCapacity) Takes() int64 { return max(1, r.Units) }

// Reservation is the capacity reservation that instances of the offering are launched into, as
// their label has it; empty: into none.
func (o *Offering) Reservation() string {
	if o.Option != Reserved {
		return ""
	}
	id, _ := o.Labels.Get(LabelReservation)
	return id
}

// LeftOf is how many instances are left of a capacity reservation that the offering draws on; 0 for
// any other.
func (o *Offering) LeftOf(reservedCapacity string) int64 {
	for _, s := range o.ReservedCapacities {
		if s.Name == reservedCapacity {
			return s.Left
		}
	}
	return 0
}

// DrawsAlike reports whether instances of both offerings are taken from the same capacity
// reservations.
func (o *Offering) DrawsAlike(p *Offering) bool {
	return slices.EqualFunc(o.ReservedCapacities, p.ReservedCapacities, func(a, b ReservedCapacity) bool { return a.Name == b.Name })
}

// StandsIn reports whether an instance of the offering, which is taken from a reservation, is as
// good as one of another offering of its instance type from another reservation: in the same zone,
// for the same price, of the same sort, and taken from the same capacity reservations beside.
func (o *Offering) StandsIn(p *Offering) bool {
	return o.Reservation() != "" && p.Reservation() != "" && o.Zone == p.Zone && o.Price == p.Price && o.Unless == p.Unless &&
		slices.Equal(o.besideReservation(), p.besideReservation()) && slices.Equal(withoutReservation(o.Labels), withoutReservation(p.Labels))
}

// besideReservation names what instances are taken from beside their reservation.
func (o *Offering) besideReservation() []string {
	return slices.DeleteFunc(o.reservedCapacityNames(), func(name string) bool { return name == o.Reservation() })
}

func withoutReservation(l constraint.Labels) constraint.Labels {
	return slices.DeleteFunc(slices.Clone(l), func(l constraint.Label) bool { return l.Key == LabelReservation })
}

// Drawn is what an instance being launched will be taken from: one of each of All and, where its
// reservation is still open, one of any of Reservations. Both are sorted by name.
type Drawn struct{ All, Reservations []string }

// DrawnBy says what an instance being launched will be taken from, whichever of the offerings it
// becomes that it still may: what all of them draw on, and one of their reservations where each of
// them has one.
//
// Cost: O(offerings) for an instance that may become one of those that draw on something.
func (c *Catalogue) DrawnBy(m *Instance) Drawn {
	if c == nil {
		return Drawn{}
	}
	var all, reservations []string
	any, reserved := false, true
	for k := range c.InstanceTypes {
		instanceType := &c.InstanceTypes[k]
		if !mayBe(m, LabelInstanceType, instanceType.Name) || !mayBeLabelled(m, instanceType.Labels) {
			continue
		}
		for i := range instanceType.Offerings {
			o := &instanceType.Offerings[i]
			if !o.Asked(m.Requirements) || !mayBeLabelled(m, o.Labels) {
				continue
			}
			if !any {
				all, any = o.reservedCapacityNames(), true
			}
			all = slices.DeleteFunc(all, func(name string) bool { return !slices.Contains(o.reservedCapacityNames(), name) })
			if id := o.Reservation(); id == "" {
				reserved = false
			} else if !slices.Contains(reservations, id) {
				reservations = append(reservations, id)
			}
			if len(all) == 0 && !reserved {
				return Drawn{}
			}
		}
	}
	if !reserved || len(reservations) < 2 {
		return Drawn{All: all}
	}
	slices.Sort(reservations)
	return Drawn{all, reservations}
}

func (o *Offering) reservedCapacityNames() []string {
	var out []string
	for _, s := range o.ReservedCapacities {
		out = append(out, s.Name)
	}
	return out
}

// WithMore is the catalogue with so many more left by the names of reserved capacities, fewer where the number is
// negative; the same one where none of it changes.
func (c *Catalogue) WithMore(more map[string]int64) *Catalogue {
	changed := func(o Offering) bool {
		return slices.ContainsFunc(o.ReservedCapacities, func(r ReservedCapacity) bool { return more[r.Name] != 0 })
	}
	return c.with(changed, func(o *Offering) { o.leave(more) })
}

// leave has an offering with so many more left. One that is unavailable for no other reason than that none is left of
// its capacity reservation becomes available; others stay unavailable.
func (o *Offering) leave(more map[string]int64) {
	usedUp := o.Option == Reserved && o.Why == "" && o.LeftOf(o.Reservation()) == 0
	o.ReservedCapacities = slices.Clone(o.ReservedCapacities)
	left := true
	for i := range o.ReservedCapacities {
		r := &o.ReservedCapacities[i]
		r.Left = max(0, r.Left+more[r.Name])
		left = left && r.Left > 0
	}
	o.Available = left && (o.Available || usedUp)
}

// with is the catalogue with some offerings changed; the same one where there are none. What changes does not depend on
// prices: of an overlaid catalogue the one below changes alike.
func (c *Catalogue) with(changed func(Offering) bool, change func(*Offering)) *Catalogue {
	out := &Catalogue{Revision: c.Revision, Disk: c.Disk}
	for k := range c.InstanceTypes {
		if !slices.ContainsFunc(c.InstanceTypes[k].Offerings, changed) {
			continue
		}
		if out.InstanceTypes == nil {
			out.InstanceTypes = slices.Clone(c.InstanceTypes)
		}
		offerings := slices.Clone(c.InstanceTypes[k].Offerings)
		for i := range offerings {
			if changed(offerings[i]) {
				change(&offerings[i])
			}
		}
		out.InstanceTypes[k].Offerings = offerings
	}
	if out.InstanceTypes == nil {
		return c
	}
	if c.Base != nil {
		out.Base = c.Base.with(changed, change)
	}
	return out
}

// WithoutTypes is the catalogue in which the marked instance types, by position, cannot be had. Their prices stay
// known, for instances that are there.
func (c *Catalogue) WithoutTypes(marked []bool) *Catalogue {
	out := &Catalogue{Revision: c.Revision, Disk: c.Disk, InstanceTypes: slices.Clone(c.InstanceTypes)}
	for k := range out.InstanceTypes {
		if !marked[k] {
			continue
		}
		instanceType := &out.InstanceTypes[k]
		instanceType.Offerings = slices.Clone(instanceType.Offerings)
		for i := range instanceType.Offerings {
			instanceType.Offerings[i].Available = false
		}
	}
	if c.Base != nil {
		out.Base = c.Base.WithoutTypes(marked)
	}
	return out
}
