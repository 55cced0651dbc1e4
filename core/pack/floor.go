package pack

import (
	"cmp"
	"slices"
)

// bin is a machine while first fit fills it.
type bin struct {
	offer int32
	room  []int64
	kinds map[int]int64
	parts []part
}

// simplest returns machines found by first fit decreasing, the cheapest of
// several tries: by two notions of size, and with each offer in turn as the one
// that is bought where it will do, else the cheapest that does. So no answer is
// worse than what is written first, within limits. It ends when the steps are
// used up.
func (s *solver) simplest(rows []int32, until int64) (best []machine, ok bool) {
	l := s.look(s.worth, 0, 0)
	sorted := [2][]int32{s.bySize(rows, s.worth), s.bySize(rows, s.shares())}
	byPrice := make([]int32, len(s.offers))
	for i := range byPrice {
		byPrice[i] = int32(i)
	}
	for i := range 2 * (len(s.offers) + 2) {
		list := byPrice
		switch at := i / 2; {
		case at == 1:
			list = l.order
		case at > 1:
			list = slices.Concat(l.order[at-2:at-1], byPrice)
		}
		found, all := s.firstFit(sorted[i%2], list, until)
		if !all {
			break
		}
		if s.keeps(found, s.limits) && (!ok || s.cost(found) < s.cost(best)) {
			best, ok = found, true
		}
	}
	return best, ok
}

// bySize returns the rows, those with the largest pods first.
func (s *solver) bySize(rows []int32, worth []float64) []int32 {
	out := slices.Clone(rows)
	slices.SortStableFunc(out, func(a, b int32) int { return cmp.Compare(value(worth, s.need(b)), value(worth, s.need(a))) })
	return out
}

// shares makes all of each resource of the dearest offer worth the same.
func (s *solver) shares() []float64 {
	out := make([]float64, len(s.worth))
	for d, v := range s.offers[len(s.offers)-1].free {
		out[d] = 1 / float64(max(1, v))
	}
	return out
}

// firstFit puts pods row by row on the first machines with room, else on new
// ones of the first offer that will do.
func (s *solver) firstFit(rows, offers []int32, until int64) ([]machine, bool) {
	var bins []*bin
	for _, row := range rows {
		n := s.batch.Rows[row].Count
		for _, b := range bins {
			if n == 0 {
				break
			}
			n -= s.put(b, row, n)
		}
		if s.steps += int64(len(bins)); s.steps > until {
			return nil, false
		}
		for n > 0 {
			b := s.newBin(row, offers)
			put := s.put(b, row, n)
			if put == 0 {
				return nil, false
			}
			bins, n = append(bins, b), n-put
		}
	}
	out := make([]machine, len(bins))
	for i, b := range bins {
		out[i] = s.machineOf(b.offer, b.parts)
	}
	return out, true
}

func (s *solver) newBin(row int32, offers []int32) *bin {
	for _, o := range offers {
		if s.may(row, int(o)) && holds(s.offers[o].free, s.need(row)) {
			return &bin{offer: o, room: slices.Clone(s.offers[o].free), kinds: map[int]int64{}}
		}
	}
	return &bin{offer: offers[0], kinds: map[int]int64{}, room: make([]int64, len(s.worth))}
}

// put adds up to n pods of the row and returns how many there was room for.
func (s *solver) put(b *bin, row int32, n int64) int64 {
	if !s.may(row, int(b.offer)) {
		return 0
	}
	for d, v := range s.need(row) {
		if v > 0 {
			n = min(n, b.room[d]/v)
		}
	}
	it := &s.batch.Rows[row]
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
	for d, v := range s.need(row) {
		b.room[d] -= v * n
	}
	for _, k := range it.Kinds {
		b.kinds[k] += n
	}
	b.parts = append(b.parts, part{row, n})
	return n
}
