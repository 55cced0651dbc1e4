package place

import (
	"cmp"
	"encoding/binary"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// supply is the offers of a batch that some rows may have. Its spot offers are of
// three sorts, in each of them the one that is worth most for its cost first.
type supply struct {
	all      bitset.Set
	steady   bitset.Set // of the spot offers the flexible ones alone
	small    bitset.Set // these and the rigid ones
	flexible []int      // their machines leave enough kinds open, however full
	full     []int      // theirs would with less on them
	rigid    []int      // theirs leave too few open, whatever is on them
}

// supplyOf tells spot offers apart. Those that leave enough kinds open with less on
// them are offered with less room too.
func (l *batch) supplyOf(r *run, all bitset.Set) *supply {
	out := &supply{all: all, steady: all.Clone()}
	var few []int
	for _, s := range l.sellers {
		few = append(few, l.supply(out, s)...)
	}
	out.small = out.steady.Clone()
	for _, i := range few {
		if l.holdsLess(out, i, nil) {
			out.full = append(out.full, i)
			continue
		}
		out.rigid = append(out.rigid, i)
		out.small.Add(i)
	}
	for _, list := range [][]int{out.flexible, out.full, out.rigid} {
		slices.SortStableFunc(list, func(x, y int) int { return cmp.Compare(l.yield(r, y), l.yield(r, x)) })
	}
	return out
}

// supply adds the flexible spot offers of a seller and returns the others.
func (l *batch) supply(to *supply, s seller) (few []int) {
	options := s.of(to.all)
	known := s.b.roomsAmong(options, l.asked)
	var key []byte
	for o := options.Next(0); o >= 0; o = options.Next(o + 1) {
		if !s.b.isSpot(o) {
			continue
		}
		for grade := range s.at[o].n {
			kind, i := s.b.Options[o].Kind, s.at[o].first+grade
			key = appendAmounts(binary.LittleEndian.AppendUint64(key[:0], uint64(kind)), l.Offers[i].Free)
			may := known.Get(key, func() *rooms { return s.b.roomsOf(options, kind, l.Offers[i].Free, l.asked) })
			if may.whole {
				to.flexible = append(to.flexible, i)
				continue
			}
			few = append(few, i)
			to.steady.Remove(i)
			l.supplyLess(to, i, may)
		}
	}
	return few
}

// holdsLess reports whether machines of the offer could hold less and leave enough
// kinds open, and have room for one pod nevertheless.
func (l *batch) holdsLess(s *supply, offer int, need []int64) bool {
	return slices.ContainsFunc(s.flexible, func(i int) bool {
		return l.from[i].buyer == l.from[offer].buyer && l.within(l.Offers[i].Free, l.Offers[offer].Free) && amount.Fits(l.Offers[i].Free, need)
	})
}

// within reports whether no more is in a, of what some row asks for, than in b.
func (l *batch) within(a, b []int64) bool {
	for d, v := range a {
		if l.asked[d] && v > b[d] {
			return false
		}
	}
	return true
}

// of returns the options of the seller that are among the offers.
func (s seller) of(offers bitset.Set) bitset.Set {
	out := bitset.New(len(s.b.Options))
	for o, at := range s.at {
		if at.n > 0 && offers.Has(at.first) {
			out.Add(o)
		}
	}
	return out
}

// yield is what the offer has room for, by worth, for its cost.
func (l *batch) yield(r *run, offer int) float64 {
	return value(r.worth, l.Offers[offer].Free) / l.Offers[offer].Cost
}

// supplyLess adds the offer with less room.
func (l *batch) supplyLess(to *supply, offer int, may *rooms) {
	for _, room := range may.parts {
		i := l.smaller(offer, room)
		to.steady = lengthened(to.steady, i+1)
		to.steady.Add(i)
		to.flexible = append(to.flexible, i)
	}
}

// smaller is the offer with less room.
func (l *batch) smaller(offer int, room []int64) int {
	from, it := l.from[offer], l.Offers[offer]
	for _, i := range l.less[offer] {
		if slices.Equal(l.Offers[i].Free, room) {
			return i
		}
	}
	it.Free, it.Cost = room, from.buyer.costFor(from.option, room)+from.buyer.riskOf(from.option)
	l.Offers, l.from = append(l.Offers, it), append(l.from, from)
	if l.less == nil {
		l.less = map[int][]int{}
	}
	l.less[offer] = append(l.less[offer], len(l.Offers)-1)
	return len(l.Offers) - 1
}

// lengthened returns the set with room for the numbers below n.
func lengthened(s bitset.Set, n int) bitset.Set {
	if more := bitset.Words(n) - len(s); more > 0 {
		return append(slices.Clip(s), make(bitset.Set, more)...)
	}
	return s
}

// forPods returns the offers for pods that need so much each. Of the spot offers
// they are the flexible ones, but
//   - all where none of these has room, or others with as much on them as can be
//     are cheaper by more than the margin;
//   - rigid ones too where they are cheaper by more than a little: nothing would be
//     gained with less on them, so that price decides.
func (s *supply) forPods(r *run, l *batch, need []int64) bitset.Set {
	first := func(list []int) int {
		return slices.IndexFunc(list, func(i int) bool { return amount.Fits(l.Offers[i].Free, need) })
	}
	at := first(s.flexible)
	if at < 0 {
		return s.all
	}
	least := l.yield(r, s.flexible[at])
	if full := first(s.full); full >= 0 {
		more := l.yield(r, s.full[full]) / least
		if more > flexibleWithin || more > moreExpensiveOnce && !l.holdsLess(s, s.full[full], need) {
			return s.all
		}
	}
	if rigid := first(s.rigid); rigid >= 0 && l.yield(r, s.rigid[rigid]) > float64(moreExpensiveOnce*least) {
		return s.small
	}
	return s.steady
}

// spotMore is what a spot machine is likely to cost beside the price of the first
// of its options, when the cloud chooses among those that a request names.
func (b *buyer) spotMore(options bitset.Set) quantity.MicroUSDPerHour {
	first := options.Next(0)
	if first < 0 {
		return 0
	}
	best := b.Offer(b.Options[first])
	if best.Option != cluster.Spot || !best.Priced {
		return 0
	}
	var near []*cluster.Offer
	limit, _ := cluster.NearSpot(func(yield func(string, quantity.MicroUSDPerHour) bool) {
		for i := first; i >= 0; i = options.Next(i + 1) {
			if o := b.Offer(b.Options[i]); o.Option == cluster.Spot && o.Priced {
				if near = append(near, o); !yield(b.Kind(b.Options[i]).Name, o.Ranked()) {
					return
				}
			}
		}
	})
	near = slices.DeleteFunc(near, func(o *cluster.Offer) bool { return o.Ranked() > limit })
	prices := make([]quantity.MicroUSDPerHour, len(near))
	for i, o := range near {
		prices[i] = o.Price
	}
	slices.Sort(prices)
	return max(0, cluster.LikelySpot(prices)-best.Price)
}
