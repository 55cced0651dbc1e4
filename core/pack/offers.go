package pack

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/place"
)

// offer is one that is worth looking at.
type offer struct {
	at     int // in the batch
	free   []int64
	useful []int64 // of it, at most what all rows ask for
	cost   float64
	takes  []place.BatchTake
	open   bitset.Set // classes that may have it
}

// scarce returns the positions of resources that are asked for and that some
// machine could run out of; where none could, all positions.
func scarce(batch *place.Batch) []int {
	var out, all []int
	for d := 0; len(batch.Rows) > 0 && d < len(batch.Rows[0].Need); d++ {
		all = append(all, d)
		var sum int64
		for i := range batch.Rows {
			sum += batch.Rows[i].Need[d] * batch.Rows[i].Count
		}
		if sum > 0 && slices.ContainsFunc(batch.Offers, func(o place.BatchOffer) bool { return o.Free[d] < sum }) {
			out = append(out, d)
		}
	}
	if len(out) == 0 {
		return all
	}
	return out
}

func pluck(from []int64, positions []int) []int64 {
	out := make([]int64, len(positions))
	for i, d := range positions {
		out[i] = from[d]
	}
	return out
}

// classesOf numbers rows by the offers that may have them. A set that ends
// before the last offer has none of those behind its end.
func classesOf(batch *place.Batch) (of []int, sets []bitset.Set) {
	known := map[string]int{}
	of = make([]int, len(batch.Rows))
	var key []byte
	for i := range batch.Rows {
		if i > 0 && identical(batch.Rows[i].Offers, batch.Rows[i-1].Offers) {
			of[i] = of[i-1]
			continue
		}
		key = key[:0]
		for _, word := range batch.Rows[i].Offers {
			for shift := 0; shift < 64; shift += 8 {
				key = append(key, byte(word>>shift))
			}
		}
		class, ok := known[string(key)]
		if !ok {
			class = len(sets)
			known[string(key)] = class
			whole := bitset.New(len(batch.Offers))
			copy(whole, batch.Rows[i].Offers)
			sets = append(sets, whole)
		}
		of[i] = class
	}
	return of, sets
}

// identical reports whether two sets are the same one in memory.
func identical(a, b bitset.Set) bool {
	return len(a) == len(b) && (len(a) == 0 || &a[0] == &b[0])
}

// worthwhile returns the offers that some row may have and to which no other,
// open to the same rows at least, is preferable: as large in everything, no
// dearer, and taking no more of any limit. What all rows together do not ask for makes
// none larger. The cheapest comes first.
func worthwhile(batch *place.Batch, sets []bitset.Set, positions []int) []offer {
	asked := make([]int64, len(positions))
	for i := range batch.Rows {
		for n, d := range positions {
			asked[n] += batch.Rows[i].Need[d] * batch.Rows[i].Count
		}
	}
	var all []offer
	for i, o := range batch.Offers {
		mine := offer{at: i, free: pluck(o.Free, positions), cost: o.Cost, takes: o.Takes, open: bitset.New(len(sets))}
		mine.useful = least(mine.free, asked)
		for class, set := range sets {
			if set.Has(i) {
				mine.open.Add(class)
			}
		}
		if mine.open.Count() > 0 {
			all = append(all, mine)
		}
	}
	// Of equals in cost the largest comes first, so that what is preferable to
	// an offer is always before it.
	slices.SortStableFunc(all, func(a, b offer) int {
		return cmp.Or(cmp.Compare(a.cost, b.cost), slices.Compare(b.useful, a.useful), slices.Compare(b.free, a.free))
	})
	var out []offer
	var asks []int // positions in out; what was preferable to the last one is asked first
	for i := range all {
		at := slices.IndexFunc(asks, func(o int) bool { return out[o].preferable(&all[i]) })
		if at >= 0 {
			asks[0], asks[at] = asks[at], asks[0]
			continue
		}
		asks, out = append(asks, len(out)), append(out, all[i])
	}
	return out
}

func least(a, b []int64) []int64 {
	out := make([]int64, len(a))
	for i := range a {
		out[i] = min(a[i], b[i])
	}
	return out
}

// preferable reports whether an offer that costs no more will always do in
// place of the other.
func (o *offer) preferable(other *offer) bool {
	if !holds(o.useful, other.useful) {
		return false
	}
	for i, word := range other.open {
		if word&^o.open[i] != 0 {
			return false
		}
	}
	return !slices.ContainsFunc(o.takes, func(t place.BatchTake) bool { return takesOf(other.takes, t.Limit) < t.Amount })
}

func holds(room, need []int64) bool {
	for d, v := range need {
		if v > room[d] {
			return false
		}
	}
	return true
}
