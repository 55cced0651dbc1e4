package nodeclaim

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// nearSpot drops spot offers that are more expensive than those that a request names.
// Where one of those that are near is sold out capacity is scarce, and all stay.
func nearSpot(fitting, soldOut []priced) []priced {
	sold := map[*cluster.Offer]bool{}
	for _, p := range soldOut {
		sold[p.offer] = true
	}
	spot := keep(ofOption(slices.Concat(fitting, soldOut), cluster.Spot), func(p priced) bool { return p.offer.Priced })
	limit, kinds := cluster.NearSpot(func(yield func(string, quantity.MicroUSDPerHour) bool) {
		for _, p := range spot {
			if !yield(p.kind.Name, p.offer.Ranked()) {
				return
			}
		}
	})
	if slices.ContainsFunc(spot, func(p priced) bool { return sold[p.offer] && p.offer.Ranked() <= limit }) {
		return fitting
	}
	return keep(fitting, func(p priced) bool {
		return p.offer.Option != cluster.Spot || !p.offer.Priced && kinds < cluster.NearKinds || p.offer.Priced && p.offer.Ranked() <= limit
	})
}
