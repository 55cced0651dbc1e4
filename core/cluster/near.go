package cluster

import (
	"iter"

	"github.com/daemok/daemok/core/quantity"
)

// A request names the spot offers that cost little more than the cheapest, and
// the next ones where those are of few kinds: the cloud chooses among them by
// how many machines each has left, so that the bill is near what was planned
// though any one of them may be short.
const (
	nearPrice = 1.3 // times the cheapest
	NearKinds = 15
)

// NearSpot returns the price up to which a request names spot offers, and how
// many kinds these are, of kinds and prices, cheapest first.
func NearSpot(offers iter.Seq2[string, quantity.MicroUSDPerHour]) (limit quantity.MicroUSDPerHour, kinds int) {
	limit = -1
	seen := map[string]bool{}
	for kind, price := range offers {
		if limit < 0 {
			limit = quantity.MicroUSDPerHour(float64(nearPrice * float64(price)))
		}
		if price > limit && len(seen) >= NearKinds {
			break
		}
		seen[kind], limit = true, max(limit, price)
	}
	return limit, len(seen)
}
