package cluster

import (
	"iter"

	"github.com/daemok/daemok/core/quantity"
)

// A request names the spot offerings that cost little more than the cheapest, and the next ones
// where those are of few instance types: the cloud chooses among them by how many instances each
// has left, so that the bill is near what was planned though any one of them may be short.
const (
	nearPrice = 1.3 // times the cheapest
	NearKinds = 15
)

// NearSpot returns the price up to which a request names spot offerings, and how many instance
// types these are, of instance types and prices, cheapest first.
func NearSpot(offerings iter.Seq2[string, quantity.MicroUSDPerHour]) (limit quantity.MicroUSDPerHour, kinds int) {
	limit = -1
	seen := map[string]bool{}
	for kind, price := range offerings {
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

// The cloud does not say how much it has of an offering. What it gives is counted as if each
// offering seemed up to Shyest times its price more expensive to it, all shares being alike likely,
// and the one that seems cheapest were given: for AWS's strategy price-capacity-optimized that is a
// guess, which fits the emulator's spot prices.
const (
	Shyest     = 0.5
	shySamples = 16 // of an offering's scarcity: the sum is within a thousandth of the integral
)

// LikelySpot returns what an instance costs in the mean of which a request names the spot offerings
// of these prices, which are sorted; 0 of none.
func LikelySpot(prices []quantity.MicroUSDPerHour) quantity.MicroUSDPerHour {
	var sum, chances float64
	for i, price := range prices {
		for k := range shySamples {
			seems := float64(float64(price) * (1 + float64(Shyest*(float64(k)+0.5)/shySamples)))
			chance := 1.0
			for j, other := range prices {
				if float64(other) >= seems { // and all further ones: none can seem cheaper
					break
				}
				if j != i {
					chance *= min(1, max(0, 1-float64((seems/float64(other)-1)/Shyest)))
				}
			}
			sum, chances = sum+float64(chance*float64(price)), chances+chance
		}
	}
	if chances == 0 {
		return 0
	}
	return quantity.MicroUSDPerHour(sum / chances)
}
