package supply

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
)

// sort is what options have in common that may stand in for each other.
type sort struct {
	zone string
	way  way
}

// way is how an instance is paid for, and how many other instance types its launch leaves open.
type way int

const (
	onDemand way = iota
	flexibleSpot
	fullSpot  // leaves enough open with less on it
	rigidSpot // leaves too few open, whatever is on it
)

// Frontier returns the options that are worth examining when instances are chosen for many pods together: the Pareto
// frontier of cost and of what they have of the resources that are asked for, among options of one zone and one way
// of paying, where limits do not tell them apart. Of equal options the first one is kept, and all of those with surplus
// credits or from a capacity reservation. The set must not be written.
func (b *Candidate) Frontier(options bitset.Set, asked []bool) bitset.Set {
	key := roomsKey(options, asked)
	if !b.Lasting {
		key = appendFloats(appendFloats(key, b.Price), b.Risk)
	}
	return *b.frontiers.Get(key, func() *bitset.Set {
		out := b.newFrontier(options, asked)
		return &out
	})
}

func (b *Candidate) newFrontier(options bitset.Set, asked []bool) bitset.Set {
	out := bitset.New(len(b.Options))
	var order []int
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		if b.creditOf(b.Options[i].Kind) != nil || len(b.Offering(b.Options[i]).ReservedCapacities) > 0 {
			out.Add(i)
			continue
		}
		order = append(order, i)
	}
	cost := func(i int) float64 { return b.Price[i] + b.RiskOf(i) }
	free := make([][]int64, len(b.Free))
	for k, all := range b.Free {
		if all != nil {
			free[k] = of(all, asked)
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(cost(i), cost(j)), slices.Compare(free[b.Options[j].Kind], free[b.Options[i].Kind]), cmp.Compare(i, j))
	})
	ways := b.waysToPay(options, asked)
	fronts := map[sort][]int{}
	for _, i := range order {
		s := sort{b.Offering(b.Options[i]).Zone, ways(i)}
		front := fronts[s]
		kind := b.Options[i].Kind
		at := slices.IndexFunc(front, func(o int) bool {
			return amount.Covers(free[b.Options[o].Kind], free[kind]) && b.asModest(b.Options[o].Kind, kind)
		})
		if at < 0 {
			out.Add(i)
			fronts[s] = append(front, i)
			continue
		}
		front[0], front[at] = front[at], front[0] // what was preferable last is compared first
	}
	return out
}

// waysToPay returns the way of each of the options.
func (b *Candidate) waysToPay(options bitset.Set, asked []bool) func(option int) way {
	rooms := b.RoomsAmong(options, asked)
	roomsOf := func(i int) *Rooms { return rooms.Of(b.Options[i].Kind, b.Free[b.Options[i].Kind]) }
	var flexible [][]int64 // what flexible spot instances have, or may be filled to
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		if !b.IsSpot(i) {
			continue
		}
		may := roomsOf(i)
		if may.Whole {
			flexible = append(flexible, of(b.Free[b.Options[i].Kind], asked))
		}
		for _, part := range may.Parts {
			flexible = append(flexible, of(part, asked))
		}
	}
	return func(i int) way {
		switch {
		case !b.IsSpot(i):
			return onDemand
		case roomsOf(i).Whole:
			return flexibleSpot
		}
		if free := b.Free[b.Options[i].Kind]; slices.ContainsFunc(flexible, func(room []int64) bool { return amount.Covers(free, room) }) {
			return fullSpot
		}
		return rigidSpot
	}
}
