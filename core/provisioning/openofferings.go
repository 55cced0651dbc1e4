package provisioning

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/supply"
)

// openOfferings is the offerings of a batch that some groups may have. Its spot offerings are of three sorts; in each,
// the one that is worth most for its cost comes first.
type openOfferings struct {
	all      bitset.Set
	steady   bitset.Set // of the spot offerings only the flexible ones
	small    bitset.Set // the flexible ones and the rigid ones
	flexible []int      // their instances leave enough instance types open, however full
	full     []int      // their instances would with less on them
	rigid    []int      // their instances leave too few open, whatever is on them
}

// supplyOf sorts the spot offerings that a group may have. Those that leave enough instance types open with less on them
// are added with less room too.
func (l *batch) supplyOf(pr *Provisioner, group int) *openOfferings {
	out := &openOfferings{all: bitset.New(len(l.Offerings))}
	for i := range l.offeringPools {
		l.offeringsOf(&l.offeringPools[i], group, func(_, offering int) { out.all.Add(offering) })
	}
	out.steady = out.all.Clone()
	var few []int
	for i := range l.offeringPools {
		few = append(few, l.addFlexible(out, &l.offeringPools[i], group)...)
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
	yields := make([]float64, len(l.Offerings))
	for _, list := range [][]int{out.flexible, out.full, out.rigid} {
		for _, i := range list {
			yields[i] = l.yield(pr, i)
		}
		slices.SortStableFunc(list, func(x, y int) int { return cmp.Compare(yields[y], yields[x]) })
	}
	return out
}

// addFlexible adds the flexible spot offerings of one pool, and returns its other spot offerings.
func (l *batch) addFlexible(to *openOfferings, s *offeringPool, group int) (few []int) {
	rooms := s.b.RoomsAmong(s.open(group), l.asked)
	l.offeringsOf(s, group, func(option, i int) {
		if !s.b.IsSpot(option) {
			return
		}
		may := rooms.Of(s.b.Options[option].Kind, l.Offerings[i].Free)
		if may.Whole {
			to.flexible = append(to.flexible, i)
			return
		}
		few = append(few, i)
		to.steady.Remove(i)
		l.supplyLess(to, i, may)
	})
	return few
}

// holdsLess reports whether instances of the offering, with less on them, leave enough instance types open and still
// have room for one pod.
func (l *batch) holdsLess(s *openOfferings, offering int, need []int64) bool {
	return slices.ContainsFunc(s.flexible, func(i int) bool {
		return l.from[i].candidate == l.from[offering].candidate && l.within(l.Offerings[i].Free, l.Offerings[offering].Free) && amount.Fits(l.Offerings[i].Free, need)
	})
}

// within reports whether a has no more than b of any resource that some group asks for.
func (l *batch) within(a, b []int64) bool {
	for d, v := range a {
		if l.asked[d] && v > b[d] {
			return false
		}
	}
	return true
}

// yield is what the offering has room for, by worth, for its cost.
func (l *batch) yield(pr *Provisioner, offering int) float64 {
	return amount.Value(pr.Values.Worth, l.Offerings[offering].Free) / l.Offerings[offering].Cost
}

// supplyLess adds the offering with less room.
func (l *batch) supplyLess(to *openOfferings, offering int, may *supply.Rooms) {
	for _, room := range may.Parts {
		i := l.smaller(offering, room)
		to.steady = lengthened(to.steady, i+1)
		to.steady.Add(i)
		to.flexible = append(to.flexible, i)
	}
}

// smaller returns the position of the offering with less room; it adds one if there is none.
func (l *batch) smaller(offering int, room []int64) int {
	from, it := l.from[offering], l.Offerings[offering]
	for _, i := range l.less[offering] {
		if slices.Equal(l.Offerings[i].Free, room) {
			return i
		}
	}
	it.Free, it.Cost = room, from.candidate.CostFor(from.option, room)+from.candidate.RiskOf(from.option)
	l.Offerings, l.from = append(l.Offerings, it), append(l.from, from)
	if l.less == nil {
		l.less = map[int][]int{}
	}
	l.less[offering] = append(l.less[offering], len(l.Offerings)-1)
	return len(l.Offerings) - 1
}

// lengthened returns the set with room for the numbers below n.
func lengthened(s bitset.Set, n int) bitset.Set {
	if more := bitset.Words(n) - len(s); more > 0 {
		return append(slices.Clip(s), make(bitset.Set, more)...)
	}
	return s
}

// forPods returns the offerings for pods that need so much each. Of the spot offerings these are the flexible ones, but
//   - all, where no flexible one has room, or where the best full one is cheaper by more than the factor FlexibleWithin,
//     or by more than the factor LittleMore if it has no room for a pod with less on it;
//   - rigid ones too, where they are cheaper by more than the factor LittleMore: less on them would not help, so that
//     the price decides.
func (s *openOfferings) forPods(pr *Provisioner, l *batch, need []int64) bitset.Set {
	first := func(list []int) int {
		return slices.IndexFunc(list, func(i int) bool { return amount.Fits(l.Offerings[i].Free, need) })
	}
	at := first(s.flexible)
	if at < 0 {
		return s.all
	}
	least := l.yield(pr, s.flexible[at])
	if full := first(s.full); full >= 0 {
		more := l.yield(pr, s.full[full]) / least
		if more > supply.FlexibleWithin || more > supply.LittleMore && !l.holdsLess(s, s.full[full], need) {
			return s.all
		}
	}
	if rigid := first(s.rigid); rigid >= 0 && l.yield(pr, s.rigid[rigid]) > float64(supply.LittleMore*least) {
		return s.small
	}
	return s.steady
}
