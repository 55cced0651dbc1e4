package supply

import (
	"cmp"
	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"iter"
	"slices"
)

// A spot instance leaves several instance types open, since any one of them may be offered
// out, and is taken away sooner where few others are asked for. Kinds count that
// cost little more than the one launched first: spot prices of instances of one
// size differ by a factor of two and more between instance types and zones, so that a
// smaller share would count hardly any beside the cheapest. What more or less
// of it costs is described in docs/concepts/cost.md.
const (
	flexible       = 15  // instance types
	FlexibleWithin = 2.5 // times the price of the first
)

// EnoughTries is how often a load is cut for flexibility at most: with less to
// hold, a cheaper option comes first, and others count.
const EnoughTries = 4

// SpotKinds lists the instance types that an instance which is launched first by a spot
// option counts as flexible with, cheapest first: those that are offered as spot
// for little more, and for no more than is asked for on demand for the same.
// There are none for an instance that is no spot instance. Options before from are
// passed over.
func (b *Candidate) SpotKinds(options bitset.Set, from, first int, sum []int64) iter.Seq[int] {
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
			if offering.Option == cluster.Spot && !seen[of] && b.asModest(o.Kind, b.Options[first].Kind) {
				seen[of] = true
				if !yield(o.Kind) {
					return
				}
			}
		}
	}
}

// IsSpot reports whether the option is a spot offering of a known price.
func (b *Candidate) IsSpot(option int) bool {
	offering := b.Offering(b.Options[option])
	return offering.Option == cluster.Spot && offering.Priced
}

// asModest reports whether an instance of the type takes no more of what the pool
// limits than one of the other.
func (b *Candidate) asModest(kind, than int) bool {
	return b.Remaining == nil || kind == than || b.Remaining.noLarger(b.InstanceTypeAt(kind).Capacity, b.InstanceTypeAt(than).Capacity)
}

// CommonRoom returns what enough of the instance types have room for, those that have
// room for the greatest share of the sum; enough is false where too few could
// have one pod.
func (b *Candidate) CommonRoom(kinds []int, sum, pod []int64) (room []int64, enough bool) {
	kinds = slices.DeleteFunc(kinds, func(k int) bool { return !amount.Fits(b.Free[k], pod) })
	if len(kinds) < flexible {
		return nil, false
	}
	parts := make(map[int]float64, len(kinds))
	for _, k := range kinds {
		parts[k] = amount.Share(b.Free[k], sum)
	}
	slices.SortStableFunc(kinds, func(x, y int) int { return cmp.Compare(parts[y], parts[x]) })
	return b.leastFree(kinds[:flexible]), true
}
