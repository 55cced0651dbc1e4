// Package offering chooses the offerings that one launch request names: which, in which order, and why the others
// are left out.
//
// It promises the same choice for the same catalogue and the same ask, and leaves nothing to choose to those who send
// the request. It does not decide what a NodeClaim asks for: that is the plan's.
package offering

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// What one launch request names and asks for at most. EC2's CreateFleet takes 300 combinations of instance type and
// subnet; more types than 60 make a request no likelier to succeed, and a plan leaves no more open.
const (
	TypesMax     = 60
	Max          = 300
	InstancesMax = 1000
)

// Ask is what a NodeClaim asks for.
type Ask struct {
	Requirements constraint.Requirements
	NotOfTypes   []string // keys of Requirements that say nothing of an instance unless its offering has such a label
	Requests     quantity.Resources
	Relaxed      bool // fewer values than minValues asks for will do
}

// Named is an offering that the request names.
type Named struct {
	Type      *cluster.InstanceType
	Offering  *cluster.Offering
	Partition string // of a placement group, that is asked for; empty: none, or any
	Needed    bool   // for minValues: if not all can be named, others are left out
}

// LeftOut is an offering that meets what is asked and that the request does not name.
type LeftOut struct {
	Type     *cluster.InstanceType
	Offering *cluster.Offering
	Why      Reason
}

// Choice is what a request names.
type Choice struct {
	Named   []Named   // best first, all of one capacity type and of no more than Max; none: see WhyNone
	LeftOut []LeftOut // in the order in which it was decided
	WhyNone string    // why nothing can be launched now, and what helps; empty where something can

	// Whole stands for all that the ask may ever be launched as, of which Named is what is to be tried first: it is
	// equal for asks that the same offerings meet and that minValues holds to as many different ones.
	Whole uint64
	// Few are the types of what is named where that is on-demand, though the ask may be spot, and too few for a good
	// chance that one of them is there; else none.
	Few []string
}

// capacityTypes is which capacity type is tried first where several may be launched.
var capacityTypes = []cluster.Option{cluster.Reserved, cluster.Spot, cluster.OnDemand}

// Choose lists what to name in a request, best first: offerings of one capacity type, the first of capacityTypes of
// which any can be had, by price and ties by type and zone, which keep minValues where all that can be had do. Where
// they have become too few for minValues nothing is named, unless the ask is relaxed.
//
// Cost: linear in the offerings of the types that the ask allows, and in minValues.
func Choose(from []cluster.InstanceType, a Ask) Choice {
	c := chooser{ask: a}
	available := c.available(from)
	if len(available) == 0 {
		return Choice{LeftOut: c.left, WhyNone: c.noneAvailable()}
	}
	if short := shortOf(a.Requirements, available); short != "" && !a.Relaxed {
		return Choice{LeftOut: c.left, WhyNone: short}
	}
	out := Choice{Whole: wholeOf(available, c.left, a.Requirements)}
	cheapest := c.cheapest(available)
	out.Few = fewOnDemand(cheapest, a.Requirements)
	out.Named, out.LeftOut = c.onePerPlace(byPrice(cheapest)), c.left
	return out
}

// chooser is one choice while it is made.
type chooser struct {
	ask  Ask
	left []LeftOut
}

// keep returns those of the list that are wanted, and notes why the others are left out.
func (c *chooser) keep(list []Named, why Reason, wanted func(*Named) bool) []Named {
	out := make([]Named, 0, len(list))
	for i := range list {
		if wanted(&list[i]) {
			out = append(out, list[i])
			continue
		}
		c.left = append(c.left, LeftOut{list[i].Type, list[i].Offering, why})
	}
	return out
}

// available lists the offerings that meet what is asked and can be had now.
func (c *chooser) available(from []cluster.InstanceType) []Named {
	var meeting []Named
	types := c.ask.Requirements.Get(cluster.LabelInstanceType)
	for i := range from {
		k := &from[i]
		if !types.Allows(k.Name) || !c.ask.Requests.FitsIn(k.Allocatable) {
			continue // most types have no offering that need be looked at
		}
		for j := range k.Offerings {
			if n := (Named{Type: k, Offering: &k.Offerings[j]}); n.meets(c.ask) {
				meeting = append(meeting, n)
			}
		}
	}
	return c.keep(meeting, Unavailable, func(n *Named) bool { return n.Offering.Available })
}

// noneAvailable says why there is nothing to launch, and what helps where an offering tells that.
func (c *chooser) noneAvailable() string {
	text := "no type that the claim allows and that holds its requests is offered and available now"
	if i := slices.IndexFunc(c.left, func(l LeftOut) bool { return l.Offering.Why != "" }); i >= 0 {
		text += ": " + c.left[i].Offering.Why
	}
	return text
}

// cheapest lists the offerings of the first capacity type that can be had, cheapest first, as many as one request names.
func (c *chooser) cheapest(available []Named) []Named {
	all := c.onePartition(available)
	list := all
	if !asksVariety(c.ask.Requirements) { // or what is dropped might be what minValues counts
		list = c.nearSpot(c.withoutExpensiveSpot(c.withoutUnasked(list)))
	}
	for _, capacityType := range capacityTypes {
		is := func(n *Named) bool { return n.Offering.Option == capacityType }
		if !slices.ContainsFunc(list, func(n Named) bool { return is(&n) }) {
			continue
		}
		out := ranked(c.keep(list, OtherCapacityType, is))
		if capacityType == cluster.Reserved {
			out = c.oneReservation(out)
		}
		return c.withinLimits(out, all)
	}
	return nil
}

// ranked orders offerings by price and what interruptions are likely to cost, unknown prices last.
func ranked(list []Named) []Named {
	slices.SortFunc(list, func(a, b Named) int {
		if a.Offering.Priced != b.Offering.Priced {
			if a.Offering.Priced {
				return -1
			}
			return 1
		}
		return cmp.Or(cmp.Compare(a.Offering.Ranked(), b.Offering.Ranked()), cmp.Compare(a.Type.Name, b.Type.Name),
			cmp.Compare(a.Offering.Zone, b.Offering.Zone), cmp.Compare(a.Offering.Reservation(), b.Offering.Reservation()))
	})
	return list
}

// byPrice orders what is named as the request gives priorities: by price alone, an unknown one first.
func byPrice(list []Named) []Named {
	slices.SortStableFunc(list, func(a, b Named) int { return cmp.Compare(a.Offering.Price, b.Offering.Price) })
	return list
}

// onePerPlace keeps the first reservation, partition and tenancy of each type and zone: the answer to a request tells
// types and zones, and not which of these it took.
func (c *chooser) onePerPlace(list []Named) []Named {
	type place struct{ name, zone string }
	type of struct {
		reservation, partition string
		dedicated              bool
	}
	first := map[place]of{}
	return c.keep(list, SamePlace, func(n *Named) bool {
		at, its := place{n.Type.Name, n.Offering.Zone}, of{n.Offering.Reservation(), n.Partition, n.Dedicated()}
		if kept, seen := first[at]; seen {
			return kept == its
		}
		first[at] = its
		return true
	})
}

func filter(list []Named, wanted func(*Named) bool) []Named {
	return slices.DeleteFunc(slices.Clone(list), func(n Named) bool { return !wanted(&n) })
}

// label is what the node will carry under the key.
func (n *Named) label(key string) (value string, present bool) {
	if value, present = n.Offering.Labels.Get(key); present {
		return value, true
	}
	return n.Type.Labels.Get(key)
}

// meets reports whether an instance of the offering has every label asked for, and may be launched for the ask.
func (n *Named) meets(a Ask) bool {
	for _, r := range a.Requirements {
		value, present := n.label(r.Key)
		if !present && slices.Contains(a.NotOfTypes, r.Key) {
			continue
		}
		if present && !r.Set.Allows(value) || !present && !r.Set.AllowsAbsent() {
			return false
		}
	}
	return n.Offering.Asked(a.Requirements)
}

// Dedicated reports whether it is of dedicated tenancy.
func (n *Named) Dedicated() bool { return isDedicated(n.Offering) }

func isDedicated(o *cluster.Offering) bool {
	tenancy, _ := o.Labels.Get(labelTenancy)
	return tenancy == tenancyDedicated
}
