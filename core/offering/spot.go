package offering

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// withoutExpensiveSpot drops spot offerings more expensive than the cheapest on-demand one.
func (c *chooser) withoutExpensiveSpot(list []Named) []Named {
	cheapest := quantity.MicroUSDPerHour(-1)
	for _, n := range list {
		if n.Offering.Option == cluster.OnDemand && n.Offering.Priced && (cheapest < 0 || n.Offering.Price < cheapest) {
			cheapest = n.Offering.Price
		}
	}
	if cheapest < 0 {
		return list
	}
	return c.keep(list, SpotAboveOnDemand, func(n *Named) bool {
		return n.Offering.Option != cluster.Spot || !n.Offering.Priced || n.Offering.Price <= cheapest
	})
}

// nearSpot drops spot offerings that are more expensive than those that a request names.
// Where one of those that are near is unavailable capacity is scarce, and all stay.
func (c *chooser) nearSpot(list []Named) []Named {
	spot := slices.Clone(list)
	for _, l := range c.left {
		if l.Why == Unavailable {
			spot = append(spot, Named{Type: l.Type, Offering: l.Offering})
		}
	}
	spot = ranked(filter(spot, func(n *Named) bool { return n.Offering.Option == cluster.Spot && n.Offering.Priced }))
	limit, types := cluster.NearSpot(func(yield func(string, quantity.MicroUSDPerHour) bool) {
		for _, n := range spot {
			if !yield(n.Type.Name, n.Offering.Ranked()) {
				return
			}
		}
	})
	if slices.ContainsFunc(spot, func(n Named) bool { return !n.Offering.Available && n.Offering.Ranked() <= limit }) {
		return list
	}
	return c.keep(list, SpotAboveNear, func(n *Named) bool {
		return n.Offering.Option != cluster.Spot || !n.Offering.Priced && types < cluster.NearKinds ||
			n.Offering.Priced && n.Offering.Ranked() <= limit
	})
}
