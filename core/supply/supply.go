package supply

import (
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"slices"
)

// SpotMore is what a spot instance is likely to cost beside the price of the first
// of its options, when the cloud chooses among those that a request names.
func (b *Candidate) SpotMore(options bitset.Set) quantity.MicroUSDPerHour {
	first := options.Next(0)
	if first < 0 {
		return 0
	}
	best := b.Offering(b.Options[first])
	if best.Option != cluster.Spot || !best.Priced {
		return 0
	}
	var near []*cluster.Offering
	limit, _ := cluster.NearSpot(func(yield func(string, quantity.MicroUSDPerHour) bool) {
		for i := first; i >= 0; i = options.Next(i + 1) {
			if o := b.Offering(b.Options[i]); o.Option == cluster.Spot && o.Priced {
				if near = append(near, o); !yield(b.InstanceType(b.Options[i]).Name, o.Ranked()) {
					return
				}
			}
		}
	})
	near = slices.DeleteFunc(near, func(o *cluster.Offering) bool { return o.Ranked() > limit })
	prices := make([]quantity.MicroUSDPerHour, len(near))
	for i, o := range near {
		prices[i] = o.Price
	}
	slices.Sort(prices)
	return max(0, cluster.LikelySpot(prices)-best.Price)
}
