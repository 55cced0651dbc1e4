package supply

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
)

// peers is what options have in common that may stand in for each other.
type peers struct {
	zone     string
	payments string // the payment in each of the sets, see Frontier
}

// payment is how an instance is paid for, and how many other instance types its launch leaves open.
type payment byte

const (
	notOpen payment = iota
	onDemand
	flexibleSpot
	fullSpot  // leaves enough open with less on it
	rigidSpot // leaves too few open, whatever is on it
)

// setsMax is among how many sets of options a frontier is sought. With more, hardly an option has peers.
const setsMax = 64

// Frontier returns the options that are worth examining when instances are chosen for many pods together, of which
// some may have one of the sets, and others another one. It is the Pareto frontier of cost and of what options have of
// the resources that are asked for, among options of one zone that are in the same sets, and in each of these of one
// payment, where limits do not distinguish them. Of equal options the first one is kept, and all of those with surplus
// credits or from a capacity reservation. The set must not be written.
func (b *Candidate) Frontier(sets []bitset.Set, asked []bool) bitset.Set {
	if len(sets) > setsMax {
		return b.union(sets)
	}
	var key []byte
	for _, options := range sets {
		key = append(key, roomsKey(options, asked)...)
	}
	if !b.Lasting {
		key = appendFloats(appendFloats(key, b.Price), b.Risk)
	}
	return *b.frontiers.Get(key, func() *bitset.Set {
		out := b.newFrontier(sets, asked)
		return &out
	})
}

func (b *Candidate) union(sets []bitset.Set) bitset.Set {
	out := bitset.New(len(b.Options))
	for _, options := range sets {
		out.Or(options)
	}
	return out
}

func (b *Candidate) newFrontier(sets []bitset.Set, asked []bool) bitset.Set {
	out, all := bitset.New(len(b.Options)), b.union(sets)
	var order []int
	for i := all.Next(0); i >= 0; i = all.Next(i + 1) {
		if b.creditOf(b.Options[i].Kind) != nil || len(b.Offering(b.Options[i]).ReservedCapacities) > 0 {
			out.Add(i)
			continue
		}
		order = append(order, i)
	}
	cost := func(i int) float64 { return b.Price[i] + b.RiskOf(i) }
	free := make([][]int64, len(b.Free))
	for k, has := range b.Free {
		if has != nil {
			free[k] = of(has, asked)
		}
	}
	slices.SortFunc(order, func(i, j int) int {
		return cmp.Or(cmp.Compare(cost(i), cost(j)), slices.Compare(free[b.Options[j].Kind], free[b.Options[i].Kind]), cmp.Compare(i, j))
	})
	payments := b.payments(sets, asked)
	fronts := map[peers][]int{}
	for _, i := range order {
		s := peers{b.Offering(b.Options[i]).Zone, payments[i]}
		front, kind := fronts[s], b.Options[i].Kind
		at := slices.IndexFunc(front, func(o int) bool {
			return amount.Covers(free[b.Options[o].Kind], free[kind]) && b.asModest(o, i)
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

// payments returns by option its payment in each of the sets.
func (b *Candidate) payments(sets []bitset.Set, asked []bool) []string {
	text := make([][]byte, len(b.Options))
	for at, options := range sets {
		in := b.paymentsIn(options, asked)
		for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
			if text[i] == nil {
				text[i] = make([]byte, len(sets))
			}
			text[i][at] = byte(in(i))
		}
	}
	out := make([]string, len(text))
	for i, payments := range text {
		out[i] = string(payments)
	}
	return out
}

// paymentsIn returns the payment of each option of one set.
func (b *Candidate) paymentsIn(options bitset.Set, asked []bool) func(option int) payment {
	rooms := b.RoomsAmong(options, asked)
	roomsOf := func(i int) *Rooms { return rooms.Of(b.Options[i].Kind, b.Free[b.Options[i].Kind]) }
	var fitting [][]int64 // what flexible spot instances have, or may be filled to
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		if !b.IsSpot(i) {
			continue
		}
		may := roomsOf(i)
		if may.Whole {
			fitting = append(fitting, of(b.Free[b.Options[i].Kind], asked))
		}
		for _, part := range may.Parts {
			fitting = append(fitting, of(part, asked))
		}
	}
	return func(i int) payment {
		switch {
		case !b.IsSpot(i):
			return onDemand
		case roomsOf(i).Whole:
			return flexibleSpot
		}
		if free := b.Free[b.Options[i].Kind]; slices.ContainsFunc(fitting, func(room []int64) bool { return amount.Covers(free, room) }) {
			return fullSpot
		}
		return rigidSpot
	}
}
