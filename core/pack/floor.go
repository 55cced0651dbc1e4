package pack

import (
	"cmp"
	"slices"
)

// bin is an instance while first fit fills it.
type bin struct {
	offering int32
	room     []int64
	kinds    []int64
	parts    []part
}

// simplest returns instances found by first fit decreasing that cost less than what is enough, the
// cheapest of several tries: by two notions of size, and with each offering in turn as the one that
// is launched where it will do, else the cheapest that does. So no answer is worse than what is
// written first, within limits. It ends when the steps are used up.
func (s *solver) simplest(groups []int32, until int64, enough float64) (best []instance, ok bool) {
	var bins []bin // those of the last try, for their memory
	l := s.look(s.worth, 0, 0)
	sorted := [2][]int32{s.bySize(groups, s.worth), s.bySize(groups, s.shares())}
	byPrice := make([]int32, len(s.offerings))
	for i := range byPrice {
		byPrice[i] = int32(i)
	}
	for i := range 2 * (len(s.offerings) + 2) {
		list := byPrice
		switch at := i / 2; {
		case at == 1:
			list = l.order
		case at > 1:
			list = slices.Concat(l.order[at-2:at-1], byPrice)
		}
		var all bool
		if bins, all = s.firstFit(bins[:0], sorted[i%2], list, until); !all {
			break
		}
		if cost := s.costOf(bins); cost < enough {
			if found := s.instancesOf(bins); s.keeps(found, s.limits) {
				best, ok, enough = found, true, cost
			}
		}
	}
	return best, ok
}

// bySize returns the groups, those with the largest pods first.
func (s *solver) bySize(groups []int32, worth []float64) []int32 {
	out := slices.Clone(groups)
	slices.SortStableFunc(out, func(a, b int32) int { return cmp.Compare(value(worth, s.need(b)), value(worth, s.need(a))) })
	return out
}

// shares makes all of each resource of the most expensive offering worth the same.
func (s *solver) shares() []float64 {
	out := make([]float64, len(s.worth))
	for d, v := range s.offerings[len(s.offerings)-1].free {
		out[d] = 1 / float64(max(1, v))
	}
	return out
}

func (s *solver) costOf(bins []bin) float64 {
	sum := 0.0
	for i := range bins {
		sum += s.offerings[bins[i].offering].cost
	}
	return sum
}

func (s *solver) instancesOf(bins []bin) []instance {
	out := make([]instance, len(bins))
	for i := range bins {
		out[i] = s.instanceOf(bins[i].offering, bins[i].parts)
	}
	return out
}

// firstFit puts pods group by group on the first instances with room, else on new ones of the first
// offering that will do.
func (s *solver) firstFit(bins []bin, groups, offerings []int32, until int64) ([]bin, bool) {
	for _, group := range groups {
		n := s.batch.Groups[group].Count
		for i := range bins {
			if n == 0 {
				break
			}
			n -= s.put(&bins[i], group, n)
		}
		if s.steps += int64(len(bins)); s.steps > until {
			return bins, false
		}
		for n > 0 {
			bins = s.addBin(bins, group, offerings)
			put := s.put(&bins[len(bins)-1], group, n)
			if put == 0 {
				return bins, false
			}
			n -= put
		}
	}
	return bins, true
}

// addBin adds an empty instance for pods of the group, without room if there is none.
func (s *solver) addBin(bins []bin, group int32, offerings []int32) []bin {
	bins = slices.Grow(bins, 1)[:len(bins)+1]
	b := &bins[len(bins)-1]
	if b.room == nil {
		b.room, b.kinds = make([]int64, len(s.worth)), make([]int64, len(s.filler.kinds))
	}
	b.offering, b.parts = offerings[0], b.parts[:0]
	clear(b.room)
	clear(b.kinds)
	for _, o := range offerings {
		if s.may(group, int(o)) && holds(s.offerings[o].free, s.need(group)) {
			b.offering = o
			copy(b.room, s.offerings[o].free)
			break
		}
	}
	return bins
}

// put adds up to n pods of the group and returns how many there was room for.
func (s *solver) put(b *bin, group int32, n int64) int64 {
	if !s.may(group, int(b.offering)) {
		return 0
	}
	for d, v := range s.need(group) {
		if v > 0 {
			n = min(n, b.room[d]/v)
		}
	}
	it := &s.batch.Groups[group]
	for _, c := range it.Caps {
		free := c.Most - b.kinds[c.Kind]
		if free <= 0 {
			return 0
		}
		if slices.Contains(it.Kinds, c.Kind) {
			n = min(n, free)
		}
	}
	if n <= 0 {
		return 0
	}
	for d, v := range s.need(group) {
		b.room[d] -= v * n
	}
	for _, k := range it.Kinds {
		b.kinds[k] += n
	}
	b.parts = append(b.parts, part{group, n})
	return n
}
