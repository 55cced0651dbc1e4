package offering

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
)

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

// noneAvailable says why there is nothing to launch, and what helps where an offering says that.
func (c *chooser) noneAvailable() string {
	text := "no type that the claim allows and that holds its requests is offered and available now"
	if i := slices.IndexFunc(c.left, func(l LeftOut) bool { return l.Offering.Why != "" }); i >= 0 {
		text += ": " + c.left[i].Offering.Why
	}
	return text
}

// cheapest lists the offerings of the first capacity type that can be had, cheapest first, as many as one request
// names.
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

// byPrice orders what is named as the request gives priorities: by price alone, an unknown one first.
func byPrice(list []Named) []Named {
	slices.SortStableFunc(list, func(a, b Named) int { return cmp.Compare(a.Offering.Price, b.Offering.Price) })
	return list
}

// onePerPlace keeps the first reservation, partition and tenancy of each type and zone: the answer to a request says
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
