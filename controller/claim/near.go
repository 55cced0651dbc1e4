package claim

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// A request names the spot offers that cost little more than the cheapest, and
// the next ones where those are of few types: the cloud chooses among them by
// how many machines each has left, so that the bill is near what was planned
// though any one of them may be short.
const (
	nearPrice = 1.3 // times the cheapest
	nearTypes = 15
)

// nearSpot drops dear spot offers. Where one of those that are near is sold out
// capacity is scarce, and all stay.
func nearSpot(fitting, soldOut []priced) []priced {
	sold, types, limit := map[*cluster.Offer]bool{}, map[string]bool{}, quantity.MicroUSDPerHour(-1)
	for _, p := range soldOut {
		sold[p.offer] = true
	}
	for _, p := range ofOption(slices.Concat(fitting, soldOut), cluster.Spot) {
		if !p.offer.Priced || p.offer.Price > limit && len(types) >= nearTypes {
			break
		}
		if limit < 0 {
			limit = quantity.MicroUSDPerHour(nearPrice * float64(p.offer.Price))
		}
		if sold[p.offer] {
			return fitting
		}
		types[p.kind.Name] = true
		limit = max(limit, p.offer.Price)
	}
	return keep(fitting, func(p priced) bool {
		return p.offer.Option != cluster.Spot || !p.offer.Priced && len(types) < nearTypes || p.offer.Priced && p.offer.Price <= limit
	})
}
