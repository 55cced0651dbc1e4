package supply

import (
	"iter"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// The launch of a spot instance leaves several instance types open: any one of them may be unavailable, and the
// instance is interrupted sooner where few are open. Those instance types count that cost little more than the one
// launched first. Spot prices of instances of one size differ by a factor of two and more between instance types
// and zones, so that with a smaller factor hardly any would count besides the cheapest. docs/concepts/cost.md says
// what more or less flexibility costs.
const (
	flexible       = 15  // instance types
	FlexibleWithin = 2.5 // times the price of the first
)

// EnoughTries is how often a load is reduced for flexibility at most: with less on it, a cheaper option comes
// first, and other instance types count.
const EnoughTries = 4

// SpotKinds lists the instance types that count for the flexibility of an instance launched first by a spot option,
// cheapest first: those with a spot offering that costs little more, and no more than the cheapest on-demand
// offering that has room for sum. There are none for other instances. Options before from are skipped.
func (b *obtainable) SpotKinds(options bitset.Set, from, first int, sum []int64) iter.Seq[int] {
	return func(yield func(int) bool) {
		if !b.IsSpot(first) {
			return
		}
		best, seen := float64(b.Offering(b.Options[first]).Ranked()), b.kindMarks()
		for i := options.Next(from); i >= 0; i = options.Next(i + 1) {
			o := b.Options[i]
			offering, of := b.Offering(o), b.Kinds[o.Kind].Of
			if !offering.Priced || float64(offering.Ranked()) > float64(FlexibleWithin*best) ||
				offering.Option == cluster.OnDemand && amount.Fits(b.Free[o.Kind], sum) {
				return
			}
			if offering.Option == cluster.Spot && !seen[of] && b.asModest(i, first) {
				seen[of] = true
				if !yield(o.Kind) {
					return
				}
			}
		}
	}
}

// IsSpot reports whether the option is a spot offering of a known price.
func (b *poolOptions) IsSpot(option int) bool {
	offering := b.Offering(b.Options[option])
	return offering.Option == cluster.Spot && offering.Priced
}

// CommonRoom returns the room that enough of the instance types have in common: those with room for the greatest
// share of the sum. The result enough is false where too few have room for one pod.
func (b *instances) CommonRoom(kinds []int, sum, pod []int64) (room []int64, enough bool) {
	best, parts := make([]int, 0, flexible+1), make([]float64, 0, flexible+1) // by falling share
	for _, k := range kinds {
		if !amount.Fits(b.Free[k], pod) {
			continue
		}
		part := amount.Share(b.Free[k], sum)
		if len(best) == flexible && part <= parts[flexible-1] {
			continue
		}
		at := len(best)
		for at > 0 && parts[at-1] < part {
			at--
		}
		best, parts = slices.Insert(best, at, k), slices.Insert(parts, at, part)
		best, parts = best[:min(len(best), flexible)], parts[:min(len(parts), flexible)]
	}
	if len(best) < flexible {
		return nil, false
	}
	return b.leastFree(best), true
}

// ManyKinds reports whether enough instance types of the options count for flexibility if this one is launched
// first.
func (b *obtainable) ManyKinds(options bitset.Set, first int) bool {
	return len(slices.Collect(b.SpotKinds(options, 0, first, nil))) >= flexible
}

// WithoutKind removes the options of an instance type.
func (b *poolOptions) WithoutKind(options bitset.Set, kind int) {
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		if b.same(b.Options[i].Kind, kind) {
			options.Remove(i)
		}
	}
}

// LittleMore is how many times the price of the cheapest a spot offering may cost to be as good as it.
const LittleMore = 1.1

// SpotMore is what a spot instance is likely to cost above the price of its first option, since the cloud chooses
// among those that a request names.
func (b *poolOptions) SpotMore(options bitset.Set) quantity.MicroUSDPerHour {
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

// risks returns by option what interruptions are likely to cost: nothing but for spot offerings, and for these no
// more than makes them as expensive, by what they hold, as the best on-demand offering.
func (b *pricing) risks(worth []float64) []float64 {
	if !b.Risky || b.Valuation.LeastInterrupted {
		return nil
	}
	yield := 0.0 // the best on demand
	for i := b.AvailableNow.Next(0); i >= 0; i = b.AvailableNow.Next(i + 1) {
		o := b.Options[i]
		offering := b.Offering(o)
		listed := offering.Option == cluster.OnDemand && offering.Priced && !offering.Covered()
		if listed && b.Free[o.Kind] != nil {
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
func (b *pricing) RiskOf(option int) float64 {
	if b.Risk == nil {
		return 0
	}
	return b.Risk[option]
}

// LeastInterrupted is the option whose cost counts when instances are chosen: the first one, or the cheapest where
// the risk of interruption has no say in that.
func (b *pricing) LeastInterrupted(options bitset.Set, sum []int64) int {
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
func (b *pricing) withRisk(prices []float64) []float64 {
	if b.Risk == nil {
		return prices
	}
	out := slices.Clone(prices)
	for i, risk := range b.Risk {
		out[i] += risk
	}
	return out
}

// WithoutExpensiveSpot removes spot options that cost more than an on-demand option after them. They come first
// because interruptions are less likely than for others, which would be cheaper but do not hold the load.
func (b *obtainable) WithoutExpensiveSpot(options bitset.Set, kinds []int) (bitset.Set, []int) {
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

// MayBeSpot reports whether an instance that may become any of the options may be a spot instance.
func (b *poolOptions) MayBeSpot(options bitset.Set) bool {
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		if b.Offering(b.Options[i]).Option == cluster.Spot {
			return true
		}
	}
	return false
}
