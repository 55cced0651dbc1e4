package supply

import (
	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"slices"
)

// risks returns by option what interruptions are likely to cost: for spot offerings,
// and no more than would make them as expensive, by what they hold, as what is offered on
// demand.
func (b *Candidate) risks(worth []float64) []float64 {
	if !b.Risky || b.Valuation.LeastInterrupted {
		return nil
	}
	yield := 0.0 // the best on demand
	for i := b.AvailableNow.Next(0); i >= 0; i = b.AvailableNow.Next(i + 1) {
		o := b.Options[i]
		if offering := b.Offering(o); offering.Option == cluster.OnDemand && offering.Priced && b.Free[o.Kind] != nil {
			yield = max(yield, amount.Value(worth, b.Free[o.Kind])/b.Price[i])
		}
	}
	out := make([]float64, len(b.Options))
	for i, o := range b.Options {
		offering := b.Offering(o)
		if !b.IsSpot(i) {
			continue
		}
		out[i] = float64(offering.Ranked() - offering.Price)
		if free := b.Free[o.Kind]; free != nil && yield > 0 {
			out[i] = max(0, min(out[i], amount.Value(worth, free)/yield-b.Price[i]))
		}
	}
	return out
}

// RiskOf is what interruptions of instances of the option are likely to cost.
func (b *Candidate) RiskOf(option int) float64 {
	if b.Risk == nil {
		return 0
	}
	return b.Risk[option]
}

// LeastInterrupted is the option that an instance counts as when instances are chosen: the first
// one, or the cheapest where the risk is to have no say in that.
func (b *Candidate) LeastInterrupted(options bitset.Set, sum []int64) int {
	best := options.Next(0)
	if !b.Risky || !b.Valuation.LeastInterrupted || !b.IsSpot(best) {
		return best
	}
	for i := options.Next(best + 1); i >= 0; i = options.Next(i + 1) {
		if b.IsSpot(i) && b.CostFor(i, sum) < b.CostFor(best, sum) {
			best = i
		}
	}
	return best
}

// withRisk adds what interruptions are likely to cost to prices.
func (b *Candidate) withRisk(prices []float64) []float64 {
	if b.Risk == nil {
		return prices
	}
	out := slices.Clone(prices)
	for i, risk := range b.Risk {
		out[i] += risk
	}
	return out
}

// WithoutExpensiveSpot removes the spot options that come before a cheaper one on demand,
// since they are less likely to be taken away than others that would be cheaper
// but do not hold the load.
func (b *Candidate) WithoutExpensiveSpot(options bitset.Set, kinds []int) (bitset.Set, []int) {
	first := options.Next(0)
	if !b.Risky || first < 0 || !b.IsSpot(first) {
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
	keptKinds := b.FirstKinds(kept)
	if b.MinValuesShort(kept, keptKinds) != nil {
		return options, kinds
	}
	return kept, keptKinds
}
