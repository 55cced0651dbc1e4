package place

import (
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
)

// Spot instances of some instance types are taken away sooner than those of others. That
// ranks spot offerings among themselves: what interruptions are likely to cost counts
// when offerings are compared, and is in no cost that is shown. It moves
// nothing to on-demand.

// risks returns by option what interruptions are likely to cost: for spot offerings,
// and no more than would make them as expensive, by what they hold, as what is offered on
// demand.
func (b *candidate) risks(worth []float64) []float64 {
	if !b.risky || b.terms.leastInterrupted {
		return nil
	}
	yield := 0.0 // the best on demand
	for i := b.available.Next(0); i >= 0; i = b.available.Next(i + 1) {
		o := b.Options[i]
		if offering := b.Offering(o); offering.Option == cluster.OnDemand && offering.Priced && b.free[o.Kind] != nil {
			yield = max(yield, amount.Value(worth, b.free[o.Kind])/b.price[i])
		}
	}
	out := make([]float64, len(b.Options))
	for i, o := range b.Options {
		offering := b.Offering(o)
		if !b.isSpot(i) {
			continue
		}
		out[i] = float64(offering.Ranked() - offering.Price)
		if free := b.free[o.Kind]; free != nil && yield > 0 {
			out[i] = max(0, min(out[i], amount.Value(worth, free)/yield-b.price[i]))
		}
	}
	return out
}

// riskOf is what interruptions of instances of the option are likely to cost.
func (b *candidate) riskOf(option int) float64 {
	if b.risk == nil {
		return 0
	}
	return b.risk[option]
}

// leastInterrupted is the option that an instance counts as when instances are chosen: the first
// one, or the cheapest where the risk is to have no say in that.
func (b *candidate) leastInterrupted(options bitset.Set, sum []int64) int {
	best := options.Next(0)
	if !b.risky || !b.terms.leastInterrupted || !b.isSpot(best) {
		return best
	}
	for i := options.Next(best + 1); i >= 0; i = options.Next(i + 1) {
		if b.isSpot(i) && b.costFor(i, sum) < b.costFor(best, sum) {
			best = i
		}
	}
	return best
}

// withRisk adds what interruptions are likely to cost to prices.
func (b *candidate) withRisk(prices []float64) []float64 {
	if b.risk == nil {
		return prices
	}
	out := slices.Clone(prices)
	for i, risk := range b.risk {
		out[i] += risk
	}
	return out
}

// withoutExpensiveSpot removes the spot options that come before a cheaper one on demand,
// since they are less likely to be taken away than others that would be cheaper
// but do not hold the load.
func (b *candidate) withoutExpensiveSpot(options bitset.Set, kinds []int) (bitset.Set, []int) {
	first := options.Next(0)
	if !b.risky || first < 0 || !b.isSpot(first) {
		return options, kinds
	}
	demand := first
	for demand >= 0 && b.Offering(b.Options[demand]).Option != cluster.OnDemand {
		demand = options.Next(demand + 1)
	}
	if demand < 0 || !b.Offering(b.Options[demand]).Priced {
		return options, kinds
	}
	kept := options.Clone()
	for i := first; i < demand; i = options.Next(i + 1) {
		if b.Offering(b.Options[i]).Price > b.Offering(b.Options[demand]).Price {
			kept.Remove(i)
		}
	}
	keptKinds := b.firstKinds(kept)
	if b.minValuesShort(kept, keptKinds) != nil {
		return options, kinds
	}
	return kept, keptKinds
}
