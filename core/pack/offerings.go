package pack

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/quantity"
)

// offering is one that is worth examining.
type offering struct {
	at      int // in the batch
	free    []int64
	useful  []int64 // of it, at most what all groups ask for that may have it
	cost    float64
	takes   []Take
	open    bitset.Set // classes that may have it
	company int        // these, among the companies
}

// scarce returns the positions of resources that are asked for and that some instance could run out
// of; where none could, all positions.
func scarce(batch *Batch) []int {
	var out, all []int
	for d := 0; len(batch.Groups) > 0 && d < len(batch.Groups[0].Need); d++ {
		all = append(all, d)
		var sum int64
		for i := range batch.Groups {
			sum += batch.Groups[i].Need[d] * batch.Groups[i].Count
		}
		if sum > 0 && slices.ContainsFunc(batch.Offerings, func(o Offering) bool { return o.Free[d] < sum }) {
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

// classesOf numbers groups by the offerings that may have them. A set that ends before the last
// offering has none of those behind its end.
func classesOf(batch *Batch) (of []int, sets []bitset.Set) {
	known := map[string]int{}
	of = make([]int, len(batch.Groups))
	var key []byte
	for i := range batch.Groups {
		if i > 0 && identical(batch.Groups[i].Offerings, batch.Groups[i-1].Offerings) {
			of[i] = of[i-1]
			continue
		}
		key = key[:0]
		for _, word := range batch.Groups[i].Offerings {
			for shift := 0; shift < 64; shift += 8 {
				key = append(key, byte(word>>shift))
			}
		}
		class, ok := known[string(key)]
		if !ok {
			class = len(sets)
			known[string(key)] = class
			whole := bitset.New(len(batch.Offerings))
			copy(whole, batch.Groups[i].Offerings)
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

// worthwhile returns the offerings that some group may have and to which no other,
// open to the same groups at least, is preferable: as large in everything, no
// more expensive, and taking no more of any limit. What the groups that may have it do not ask for
// together makes none larger. The cheapest comes first.
func worthwhile(batch *Batch, classes []int, sets []bitset.Set, positions []int) []offering {
	all, companies := opened(batch, classes, sets, positions)
	order := make([]int, len(all))
	for i := range order {
		order[i] = i
	}
	// Of equals in cost the largest comes first, so that what is preferable to
	// an offering is always before it.
	slices.SortFunc(order, func(i, j int) int {
		a, b := &all[i], &all[j]
		return cmp.Or(cmp.Compare(a.cost, b.cost), slices.Compare(b.useful, a.useful), slices.Compare(b.free, a.free), cmp.Compare(i, j))
	})
	var out []offering
	for _, i := range order {
		mine := companies[all[i].company]
		if !slices.ContainsFunc(mine.within, func(other *company) bool { return other.offerings(out, &all[i]) }) {
			mine.asks, out = append(mine.asks, len(out)), append(out, all[i])
		}
	}
	return out
}

// company is the classes that may have some offerings.
type company struct {
	open   bitset.Set
	asked  []int64    // by all of their groups
	within []*company // those that have all of its classes: itself, and larger ones
	asks   []int      // worthwhile offerings that are open to just these; what was preferable last is asked first
}

// offerings reports whether one of the offerings of the company is preferable.
func (c *company) offerings(list []offering, to *offering) bool {
	at := slices.IndexFunc(c.asks, func(o int) bool { return list[o].preferable(to) })
	if at > 0 {
		c.asks[0], c.asks[at] = c.asks[at], c.asks[0]
	}
	return at >= 0
}

// opened lists the offerings that some group may have, and the companies of classes that may have
// them.
func opened(batch *Batch, classes []int, sets []bitset.Set, positions []int) ([]offering, []*company) {
	words := bitset.Words(len(sets))
	open := make(bitset.Set, words*len(batch.Offerings))
	for class, set := range sets {
		for i := set.Next(0); i >= 0; i = set.Next(i + 1) {
			open[words*i+class/64] |= 1 << (class % 64)
		}
	}
	all := make([]offering, 0, len(batch.Offerings))
	var companies []*company
	last := 0
	for i, o := range batch.Offerings {
		mine := open[words*i : words*(i+1)]
		if mine.Next(0) < 0 {
			continue
		}
		if len(companies) == 0 || !slices.Equal(companies[last].open, mine) {
			if last = slices.IndexFunc(companies, func(c *company) bool { return slices.Equal(c.open, mine) }); last < 0 {
				last, companies = len(companies), append(companies, &company{open: mine, asked: askedBy(batch, classes, mine, positions)})
			}
		}
		free := pluck(o.Free, positions)
		all = append(all, offering{at: i, free: free, useful: least(free, companies[last].asked), cost: o.Cost, takes: o.Takes, open: mine, company: last})
	}
	for _, c := range companies {
		c.within = append(c.within, c)
		for _, other := range companies {
			if other != c && includes(other.open, c.open) {
				c.within = append(c.within, other)
			}
		}
	}
	return all, companies
}

// askedBy is what all groups of the classes ask for.
func askedBy(batch *Batch, classes []int, of bitset.Set, positions []int) []int64 {
	out := make([]int64, len(positions))
	for i := range batch.Groups {
		if of.Has(classes[i]) {
			for n, d := range positions {
				out[n] = quantity.Sum(out[n], quantity.Product(batch.Groups[i].Need[d], batch.Groups[i].Count))
			}
		}
	}
	return out
}

func includes(set, part bitset.Set) bool {
	for i, word := range part {
		if word&^set[i] != 0 {
			return false
		}
	}
	return true
}

func least(a, b []int64) []int64 {
	out := make([]int64, len(a))
	for i := range a {
		out[i] = min(a[i], b[i])
	}
	return out
}

// preferable reports whether an offering that costs no more, and is open to the same classes at
// least, will always do in place of the other.
func (o *offering) preferable(other *offering) bool {
	return holds(o.useful, other.useful) &&
		!slices.ContainsFunc(o.takes, func(t Take) bool { return takesOf(other.takes, t.Limit) < t.Amount })
}

func holds(room, need []int64) bool {
	for d, v := range need {
		if v > room[d] {
			return false
		}
	}
	return true
}
