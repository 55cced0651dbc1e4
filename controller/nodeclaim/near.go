package nodeclaim

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// nearSpot drops spot offerings that are more expensive than those that a request names.
// Where one of those that are near is unavailable capacity is scarce, and all stay.
func nearSpot(fitting, unavailable []priced) []priced {
	offered := map[*cluster.Offering]bool{}
	for _, p := range unavailable {
		offered[p.offering] = true
	}
	spot := keep(ofOption(slices.Concat(fitting, unavailable), cluster.Spot), func(p priced) bool { return p.offering.Priced })
	limit, kinds := cluster.NearSpot(func(yield func(string, quantity.MicroUSDPerHour) bool) {
		for _, p := range spot {
			if !yield(p.instanceType.Name, p.offering.Ranked()) {
				return
			}
		}
	})
	if slices.ContainsFunc(spot, func(p priced) bool { return offered[p.offering] && p.offering.Ranked() <= limit }) {
		return fitting
	}
	return keep(fitting, func(p priced) bool {
		return p.offering.Option != cluster.Spot || !p.offering.Priced && kinds < cluster.NearKinds || p.offering.Priced && p.offering.Ranked() <= limit
	})
}
