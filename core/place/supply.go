package place

import (
	"slices"
	"sort"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// supply is the offers of a batch that some rows may have.
type supply struct {
	all    bitset.Set
	steady bitset.Set // without spot offers that leave too few kinds open
	spot   []int      // the spot offers that are left, by position
}

// supplyOf looks for spot offers beside which too few kinds cost little more.
func (l *batch) supplyOf(all bitset.Set) *supply {
	out := &supply{all: all, steady: all.Clone()}
	prices := l.spotPrices(all)
	for i := all.Next(0); i >= 0; i = all.Next(i + 1) {
		from := l.from[i]
		price, ok := from.spotPrice()
		if !ok {
			continue
		}
		most, list := float64(flexibleWithin*price), prices[from.buyer]
		if sort.Search(len(list), func(k int) bool { return list[k] > most }) < flexible {
			out.steady.Remove(i)
			continue
		}
		out.spot = append(out.spot, i)
	}
	return out
}

// spotPrices returns, for each pool, the lowest spot price of each kind, the
// lowest first.
func (l *batch) spotPrices(of bitset.Set) map[*buyer][]float64 {
	least := map[*buyer]map[int]float64{}
	for i := of.Next(0); i >= 0; i = of.Next(i + 1) {
		from := l.from[i]
		price, ok := from.spotPrice()
		if !ok {
			continue
		}
		if least[from.buyer] == nil {
			least[from.buyer] = map[int]float64{}
		}
		kind := from.buyer.Kinds[from.buyer.Options[from.option].Kind].Of
		if known, found := least[from.buyer][kind]; !found || price < known {
			least[from.buyer][kind] = price
		}
	}
	out := map[*buyer][]float64{}
	for b, kinds := range least {
		for _, price := range kinds {
			out[b] = append(out[b], price)
		}
		slices.Sort(out[b])
	}
	return out
}

func (o origin) spotPrice() (price float64, ok bool) {
	offer := o.buyer.Offer(o.buyer.Options[o.option])
	return float64(offer.Price), offer.Priced && offer.Option == cluster.Spot
}

// of returns the offers for pods that need so much each: spot offers that leave
// too few kinds open are for those alone that no other spot offer has room for.
func (s *supply) of(l *Batch, need []int64) bitset.Set {
	for _, i := range slices.Backward(s.spot) {
		if amount.Fits(l.Offers[i].Free, need) {
			return s.steady
		}
	}
	return s.all
}

// spotMore is what a spot machine is likely to cost beside the price of the first
// of its options: the mean of the cheapest third of those that a request names,
// less that price. The cloud takes, of the offers of which it has most, the cheapest;
// the third is what bills came to in the lab.
func (b *buyer) spotMore(options bitset.Set) quantity.MicroUSDPerHour {
	first := options.Next(0)
	if first < 0 {
		return 0
	}
	best := b.Offer(b.Options[first])
	if best.Option != cluster.Spot || !best.Priced {
		return 0
	}
	var prices []quantity.MicroUSDPerHour
	limit, _ := cluster.NearSpot(func(yield func(string, quantity.MicroUSDPerHour) bool) {
		for i := first; i >= 0; i = options.Next(i + 1) {
			if o := b.Offer(b.Options[i]); o.Option == cluster.Spot && o.Priced {
				if prices = append(prices, o.Price); !yield(b.Kind(b.Options[i]).Name, o.Price) {
					return
				}
			}
		}
	})
	prices = slices.DeleteFunc(prices, func(p quantity.MicroUSDPerHour) bool { return p > limit })
	slices.Sort(prices)
	sum, n := quantity.MicroUSDPerHour(0), (len(prices)+2)/3
	for _, p := range prices[:n] {
		sum += p
	}
	return max(0, sum/quantity.MicroUSDPerHour(n)-best.Price)
}
