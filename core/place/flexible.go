package place

import (
	"cmp"
	"iter"
	"math"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
)

// A spot instance leaves several instance types open, since any one of them may be offered
// out, and is taken away sooner where few others are asked for. Kinds count that
// cost little more than the one launched first: spot prices of instances of one
// size differ by a factor of two and more between instance types and zones, so that a
// smaller share would count hardly any beside the cheapest. What more or less
// of it costs is described in docs/concepts/cost.md.
const (
	flexible       = 15  // instance types
	flexibleWithin = 2.5 // times the price of the first
)

// enoughTries is how often a load is cut for flexibility at most: with less to
// hold, a cheaper option comes first, and others count.
const enoughTries = 4

// keepFlexible cuts a load for a spot instance until it leaves enough instance types
// open, if the pool has so many that may have one of its pods. Where the pool
// has not, the load stays, and so does one of pods that belong together.
func (li *lister) keepFlexible(b *candidate, l load) load {
	if slices.ContainsFunc(l.parts, func(p part) bool { return li.run.groups[p.group].component != nil }) {
		return l
	}
	out := l.clone()
	for range enoughTries {
		li.run.tournament.stabilize(b, &out)
		kinds := slices.Collect(b.spotKinds(b.together(&out), 0, out.option, out.sum))
		room, enough := b.commonRoom(kinds, out.sum, li.largest(&out))
		if !enough {
			return l
		}
		if amount.Fits(room, out.sum) {
			if li.muchMoreExpensive(b, &out, &l) {
				return l
			}
			return out
		}
		smaller := li.cutTo(&out, room)
		if len(smaller.parts) == 0 {
			return l
		}
		out = smaller
	}
	return l
}

// muchMoreExpensive reports whether as many instances with less on them as are needed in
// place of one cost more than the margin beside it.
func (li *lister) muchMoreExpensive(b *candidate, less, than *load) bool {
	instances := math.Ceil(amount.Value(li.run.values.worth, than.sum) / amount.Value(li.run.values.worth, less.sum))
	return float64(instances*b.cost[less.option]) > float64(flexibleWithin*b.cost[than.option])
}

// largest returns what the pod of the load that asks for most needs.
func (li *lister) largest(l *load) []int64 {
	var out []int64
	most := -1.0
	for _, p := range l.parts {
		if need := li.run.groups[p.group].need; amount.Value(li.run.values.worth, need) > most {
			out, most = need, amount.Value(li.run.values.worth, need)
		}
	}
	return out
}

// cutTo returns what of the load there is room for, the first pods first.
func (li *lister) cutTo(l *load, room []int64) load {
	out := load{option: l.option, modest: l.modest, sum: make([]int64, li.run.dims.Len())}
	left := slices.Clone(room)
	for _, p := range l.parts {
		g := li.run.groups[p.group]
		free := left
		if p.first != nil {
			free = slices.Clone(left)
			amount.Take(free, p.first, 1)
		}
		n := min(p.n, amount.Count(free, g.need))
		if n <= 0 {
			continue
		}
		out.add(g.part(p.way, n, p.first), g.need)
		amount.Take(left, g.need, n)
		if p.first != nil {
			amount.Take(left, p.first, 1)
		}
	}
	return out
}

// spotKinds lists the instance types that an instance which is launched first by a spot
// option counts as flexible with, cheapest first: those that are offered as spot
// for little more, and for no more than is asked for on demand for the same.
// There are none for an instance that is no spot instance. Options before from are
// passed over.
func (b *candidate) spotKinds(options bitset.Set, from, first int, sum []int64) iter.Seq[int] {
	return func(yield func(int) bool) {
		if !b.isSpot(first) {
			return
		}
		best, seen := float64(b.Offering(b.Options[first]).Ranked()), b.kindMarks()
		for i := options.Next(from); i >= 0; i = options.Next(i + 1) {
			o := b.Options[i]
			offering, of := b.Offering(o), b.Kinds[o.Kind].Of
			if !offering.Priced || float64(offering.Ranked()) > float64(flexibleWithin*best) ||
				offering.Option == cluster.OnDemand && amount.Fits(b.free[o.Kind], sum) {
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

// isSpot reports whether the option is a spot offering of a known price.
func (b *candidate) isSpot(option int) bool {
	offering := b.Offering(b.Options[option])
	return offering.Option == cluster.Spot && offering.Priced
}

// asModest reports whether an instance of the type takes no more of what the pool
// limits than one of the other.
func (b *candidate) asModest(kind, than int) bool {
	return b.limits == nil || kind == than || b.limits.noLarger(b.InstanceTypeAt(kind).Capacity, b.InstanceTypeAt(than).Capacity)
}

// commonRoom returns what enough of the instance types have room for, those that have
// room for the greatest share of the sum; enough is false where too few could
// have one pod.
func (b *candidate) commonRoom(kinds []int, sum, pod []int64) (room []int64, enough bool) {
	kinds = slices.DeleteFunc(kinds, func(k int) bool { return !amount.Fits(b.free[k], pod) })
	if len(kinds) < flexible {
		return nil, false
	}
	parts := make(map[int]float64, len(kinds))
	for _, k := range kinds {
		parts[k] = amount.Share(b.free[k], sum)
	}
	slices.SortStableFunc(kinds, func(x, y int) int { return cmp.Compare(parts[y], parts[x]) })
	return b.leastFree(kinds[:flexible]), true
}
