package bench

import (
	"cmp"
	"math"
	"slices"

	"github.com/daemok/daemok/core/bound"
)

// How a load that is worth much is sought.
const (
	looksMost = 3000   // loads of one instance that are checked to know what one is worth at most
	sections  = 26     // of a price
	shapeCPU  = 32_000 // millicores of an instance for which prices of room are sought
	leftOut   = 16     // items that are left out in turn
	nothing   = 1e-12  // keeps quotients finite
)

// shapeMemory is the MiB for a millicore of such instances.
var shapeMemory = [...]float64{0.5, 1, 1.5, 2, 3, 4, 6, 8, 16}

// amounts are prices of one unit of each resource.
type amounts [resources]float64

func (a amounts) of(each [resources]int64) float64 {
	sum := 0.0
	for d, v := range each {
		sum += float64(a[d] * float64(v))
	}
	return sum
}

// pricing is what pods and room are worth in a zone.
type pricing struct {
	l      *loads
	room   amounts   // to pods that may be cut
	values []float64 // by item: of one pod, beyond what such room is worth
	prices []amounts // of room, that make bounds small for instances of some shape
	orders [][]int   // by prices: items that are worth something, those worth most for their size first
}

func (l *loads) pricing(worth []float64, zone int) *pricing {
	p := &pricing{l: l, values: make([]float64, len(l.items))}
	for i, r := range l.rows {
		if r.resource >= 0 {
			p.room[r.resource] = worth[i]
		}
	}
	for at := range l.items {
		it := &l.items[at]
		p.values[at] = -p.room.of(it.each)
		for i := range l.rows {
			if l.rows[i].counts(at, it, zone) {
				p.values[at] += worth[i]
			}
		}
	}
	for _, ratio := range shapeMemory {
		prices := p.weigh([resources]int64{shapeCPU, int64(ratio * shapeCPU * (1 << 20)), shapeCPU})
		p.prices, p.orders = append(p.prices, prices), append(p.orders, p.order(prices))
	}
	return p
}

// order lists the items that are worth something, those worth most for their
// size first.
func (p *pricing) order(prices amounts) []int {
	var out []int
	gain := make([]float64, len(p.values))
	for i, v := range p.values {
		if v > 0 {
			out = append(out, i)
			gain[i] = v / (nothing + prices.of(p.l.items[i].each))
		}
	}
	slices.SortStableFunc(out, func(x, y int) int { return cmp.Compare(gain[y], gain[x]) })
	return out
}

// weigh finds prices of cpu and memory that make the bound small for an instance with so
// much room, see branching.bound.
func (p *pricing) weigh(free [resources]int64) amounts {
	var top amounts
	for i, v := range p.values {
		for d, n := range p.l.items[i].each {
			if n > 0 && p.l.fitting(i, free) > 0 {
				top[d] = max(top[d], v/float64(n))
			}
		}
	}
	total := func(x, y float64) float64 {
		p.l.steps += int64(len(p.values))
		prices := amounts{x, y}
		sum := prices.of(free)
		for i, v := range p.values {
			if v > 0 {
				if more := v - prices.of(p.l.items[i].each); more > 0 {
					sum += float64(more * float64(p.l.fitting(i, free)))
				}
			}
		}
		return sum
	}
	least := func(x float64) (y, value float64) {
		return dip(top[1], func(y float64) float64 { return total(x, y) })
	}
	x, _ := dip(top[0], func(x float64) float64 { _, v := least(x); return v })
	y, _ := least(x)
	return amounts{x, y}
}

// dip finds about where a convex function from zero to the top is least, by
// the golden section.
func dip(top float64, of func(float64) float64) (at, value float64) {
	const golden = 0.6180339887498949
	low, high := 0.0, top
	a, b := float64(high*(1-golden)), float64(high*golden)
	va, vb := of(a), of(b)
	for range sections {
		if va <= vb {
			high, b, vb = b, a, va
			a = high - float64(golden*(high-low))
			va = of(a)
		} else {
			low, a, va = a, b, vb
			b = low + float64(golden*(high-low))
			vb = of(b)
		}
	}
	if va <= vb {
		return a, va
	}
	return b, vb
}

// branching finds the load of one instance that is worth most.
type branching struct {
	p      *pricing
	free   [resources]int64 // room that is left
	alone  float64          // what all room is worth to pods that may be cut
	order  []int            // items
	prices []amounts        // of room
	rest   [][]float64      // by prices and position: what the items from there on are worth at most beyond what their room costs
	on     []float64        // by item: pods
	taken  map[int]bool     // crowds of which a pod is on it
	looks  int

	load []float64 // the best one that was found, by item
	best float64   // what it is worth
	over float64   // no load is worth more
}

func (p *pricing) of(free [resources]int64) *branching {
	b := &branching{p: p, free: free, alone: p.room.of(free), order: p.orders[0], prices: p.prices,
		on: make([]float64, len(p.values)), load: make([]float64, len(p.values)), taken: map[int]bool{}}
	b.best = b.alone
	b.report()
	b.over = b.bound(0)
	return b
}

// report works out the rest.
func (b *branching) report() {
	b.rest = b.rest[:0]
	for _, prices := range b.prices {
		rest := make([]float64, len(b.order)+1)
		for k, i := range slices.Backward(b.order) {
			rest[k] = rest[k+1]
			if v := b.p.values[i] - prices.of(b.p.l.items[i].each); v > 0 {
				rest[k] += float64(v * float64(b.p.l.fitting(i, b.free)))
			}
		}
		b.rest = append(b.rest, rest)
	}
}

// bound is what the instance with what is left of its room is worth at most for the items
// from a position on, all of its room for pods that may be cut included.
//
// Proof: whatever room costs, zero or more, a pod is worth no more than its room
// costs and what it is worth beyond that, and no more room is taken than there is.
func (b *branching) bound(from int) float64 {
	least := math.Inf(1)
	for j, prices := range b.prices {
		least = min(least, b.rest[j][from]+prices.of(b.free))
	}
	return b.alone + least
}

// fillAll searches for a good load in simple ways: items in the order of what they are worth for
// their size by several prices of room, with each of the first items left out in turn.
func (b *branching) fillAll() {
	for _, order := range b.p.orders {
		b.fill(order, -1)
		for k := range min(len(order), leftOut) {
			b.fill(order, k)
		}
	}
}

func (b *branching) fill(order []int, but int) {
	free, worth := b.free, b.alone
	b.p.l.steps += int64(len(order))
	for k, i := range order {
		n := b.most(i)
		if k == but || n == 0 {
			continue
		}
		b.put(i, n)
		worth += float64(float64(n) * b.p.values[i])
	}
	b.note(worth)
	b.free = free
	clear(b.on)
	clear(b.taken)
}

// most is how many pods of the item there may be beside what is on the instance.
func (b *branching) most(i int) int64 {
	if slices.ContainsFunc(b.p.l.items[i].crowds, func(c int) bool { return b.taken[c] }) {
		return 0
	}
	return b.p.l.fitting(i, b.free)
}

func (b *branching) put(i int, n int64) {
	it := &b.p.l.items[i]
	for d, v := range it.each {
		b.free[d] -= v * n
	}
	for _, c := range it.crowds {
		b.taken[c] = n > 0
	}
	b.on[i] = float64(n)
}

func (b *branching) takeBack(i int) {
	it := &b.p.l.items[i]
	for d, v := range it.each {
		b.free[d] += v * int64(b.on[i])
	}
	for _, c := range it.crowds {
		b.taken[c] = false
	}
	b.on[i] = 0
}

func (b *branching) note(worth float64) {
	if worth > b.best {
		b.best = worth
		copy(b.load, b.on)
	}
}

// branchAll checks all loads that may be worth more than the best one, as far as looksMost
// allows.
func (b *branching) branchAll() {
	own := b.p.weigh(b.free)
	b.prices = append([]amounts{own}, b.p.prices...)
	b.order = b.p.order(own)
	b.report()
	b.looks, b.over = looksMost, 0
	b.branch(0, b.alone)
	b.over = max(b.over, b.best)
}

// branch tries all numbers of pods of the items from a position on, beside a load
// of some worth.
func (b *branching) branch(k int, worth float64) {
	b.note(worth)
	if k == len(b.order) {
		return
	}
	most := worth - b.alone + b.bound(k)
	if most <= b.best {
		return
	}
	if b.looks--; b.looks < 0 {
		b.over = max(b.over, most)
		return
	}
	b.p.l.steps += int64(len(b.prices))
	i := b.order[k]
	for n := b.most(i); n > 0; n-- {
		b.put(i, n)
		b.branch(k+1, worth+float64(float64(n)*b.p.values[i]))
		b.takeBack(i)
	}
	b.branch(k+1, worth)
}

// cut returns the load that would be worth most if all pods could be cut, by the
// linear program of what a pod and room are worth then.
func (b *branching) cut() []float64 {
	order := slices.DeleteFunc(slices.Clone(b.order), func(i int) bool { return b.most(i) == 0 })
	values := make([]float64, len(order))
	var columns []bound.Column
	for k, i := range order {
		values[k] = b.p.values[i]
		has := make([]float64, len(order))
		has[k] = 1
		columns = append(columns, bound.Column{Price: float64(b.most(i)), Has: has})
	}
	for d, v := range b.free {
		has := make([]float64, len(order))
		for k, i := range order {
			has[k] = float64(b.p.l.items[i].each[d])
		}
		columns = append(columns, bound.Column{Price: float64(v), Has: has})
	}
	out := make([]float64, len(b.load))
	for k, n := range bound.Cover(values, columns).Worth {
		out[order[k]] = n
	}
	return out
}
