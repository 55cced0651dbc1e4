package place

import (
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/bound"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/parallel"
	"github.com/daemok/daemok/core/quantity"
)

// worths is what resources are worth: the dual prices of the least that instances for the pods that are left can cost.
type worths struct {
	run *run
	*terms
	again float64      // worth of what is left at which prices are sought again
	pools []*candidate // those of them that instances are launched from, see recordOfferingPools
}

// find asks what one unit of each resource is worth when all pods are to be
// launched for at once and nothing but amounts counts.
func (w *worths) find() {
	w.worth = blend(amount.Positive(w.run.provisioner.demand.all.sum), w.columns())
	if !slices.ContainsFunc(w.worth, func(w float64) bool { return w > 0 }) {
		w.worth = w.usual()
	}
	w.valued++
	w.set()
	w.again = w.run.provisioner.toPlace() / 2
}

// variant is by how much more of one resource is assumed when prices are
// sought: what is nearly scarce has a price too then, and instances are not
// filled as if it were free.
const variant = 1.3

// blend returns the mean of what resources are worth when a little more of
// each in turn is asked for. No instance is worth more than its price.
func blend(demand []float64, columns []bound.Column) []float64 {
	sum := make([]float64, len(demand))
	asked := 0.0
	for i := range demand {
		if demand[i] <= 0 {
			continue
		}
		more := slices.Clone(demand)
		more[i] *= variant
		asked++
		for j, w := range bound.Cover(more, columns).Worth {
			sum[j] += w
		}
	}
	for j := range sum {
		sum[j] /= max(1, asked)
	}
	return sum
}

// columns lists what can be launched at known prices for pods that are left,
// each instance type once a pool, at its best price. What no pod can use has no say.
// Each pool is asked by one goroutine, since it remembers its answers.
func (w *worths) columns() []bound.Column {
	byPool := make([][]bound.Column, len(w.run.candidates)) // nothing of those that are not asked
	w.each(func(b *candidate) { byPool[b.at] = b.columnsOf(w.useful(b)) })
	var distinct [][]bound.Column
	for _, list := range byPool {
		if !slices.ContainsFunc(distinct, func(other []bound.Column) bool { return slices.EqualFunc(list, other, sameColumn) }) {
			distinct = append(distinct, list)
		}
	}
	return slices.Concat(distinct...)
}

func sameColumn(a, b bound.Column) bool { return a.Price == b.Price && slices.Equal(a.Has, b.Has) }

// each calls the function for every pool; in a question, for those alone that
// have something for some pod, unless all are offered to a packer.
func (w *worths) each(do func(*candidate)) {
	if w.run.question == nil {
		parallel.Each(len(w.pools), func(i int) { do(w.pools[i]) })
		return
	}
	for _, b := range w.pools {
		if w.run.options.Packer != nil || slices.ContainsFunc(w.run.groups, func(g *group) bool { return len(w.run.provisioner.ask(b, g).ways) > 0 }) {
			do(b)
		}
	}
}

// columnsOf returns some options of the pool as columns. Mostly the same few sets
// are of use each time that prices are sought.
func (b *candidate) columnsOf(options bitset.Set) []bound.Column {
	b.setText = appendSet(b.setText[:0], options)
	out, known := b.wares[string(b.setText)]
	if !known {
		out = b.newColumns(options)
		if b.wares == nil || len(b.wares) >= waresMax {
			b.wares = map[string][]bound.Column{}
		}
		b.wares[string(appendSet(nil, options))] = out
	}
	return out
}

// waresMax is how many sets are kept.
const waresMax = 64

// newColumns leaves out what has no more of anything than another column that
// costs no more: none needs it, whatever is asked for.
func (b *candidate) newColumns(options bitset.Set) []bound.Column {
	var out []bound.Column
	seen := b.kindMarks()
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		o := b.Options[i]
		offering := b.Offering(o)
		if seen[o.Kind] || !offering.Priced || offering.Option == cluster.Reserved {
			continue
		}
		seen[o.Kind] = true
		c := bound.Column{
			Price: float64(offering.Price+b.PerInstance()) + b.surplus(o.Kind, b.free[o.Kind]) + b.limitCost(o.Kind),
			Has:   amount.Positive(b.free[o.Kind]),
		}
		if !slices.ContainsFunc(out, func(other bound.Column) bool { return other.Price <= c.Price && amount.Covers(other.Has, c.Has) }) {
			out = append(out, c)
		}
	}
	return out
}

// useful returns the options that can be had for some pod that is left.
func (w *worths) useful(b *candidate) bitset.Set {
	out := bitset.New(len(b.Options))
	var lots []*lot
	for _, g := range w.run.groups {
		if g.left() == 0 {
			continue
		}
		for _, w := range w.run.provisioner.ask(b, g).ways {
			if !w.lot.counted {
				w.lot.counted = true
				lots = append(lots, w.lot)
				out.Or(w.options)
			}
		}
	}
	for _, l := range lots {
		l.counted = false
	}
	out.And(b.available)
	return out
}

// usual is what resources are worth where no price is known: a core as much
// as seven GiB of memory, as the offering set has it within a factor of two.
func (w *worths) usual() []float64 {
	out := make([]float64, w.run.dims.Len())
	out[amount.CPU] = 30
	for i, name := range w.run.dims.Resources {
		if name == quantity.NameMemory {
			out[i] = 4000 / float64(quantity.GiB)
		}
	}
	return out
}

// set sets what options of each pool yield. In a plan, pools that have the same for the
// same are reckoned once.
func (w *worths) set() {
	if w.run.question != nil {
		w.each(func(b *candidate) {
			b.value()
			w.run.provisioner.rateAll(b)
		})
		return
	}
	models, firsts := make([]*candidate, len(w.pools)), []*candidate(nil)
	for i, b := range w.pools {
		at := slices.IndexFunc(firsts, b.valuedAs)
		if at < 0 {
			at, firsts = len(firsts), append(firsts, b)
		}
		models[i] = firsts[at]
	}
	parallel.Each(len(firsts), func(i int) { firsts[i].setYields() })
	parallel.Each(len(models), func(i int) {
		b := w.pools[i]
		if models[i] != b {
			b.takeYields(models[i])
		}
		w.run.provisioner.rateAll(b)
	})
}

// valuedAs reports whether options of the two pools yield the same whatever resources
// are worth.
func (b *candidate) valuedAs(other *candidate) bool {
	if b.terms.limitCost > 0 && (b.limits != nil || other.limits != nil) {
		return false
	}
	return b.offersAs(other) && (b.terms.leastInterrupted || !b.risky || slices.Equal(b.available, other.available)) &&
		slices.EqualFunc(b.credits, other.credits, func(x, y *credit) bool {
			return (x == nil) == (y == nil) && (x == nil || x.lasting == y.lasting && x.price == y.price)
		})
}

// value sets what options yield, given what one unit of each resource is
// worth.
func (b *candidate) value() {
	like := b.like
	if like == nil {
		b.setYields()
		return
	}
	if like.valued != b.terms.valued {
		like.setYields()
		like.valued = b.terms.valued
	}
	b.takeYields(like)
}

func (b *candidate) takeYields(like *candidate) {
	b.price, b.cost, b.risk, b.lasting, b.alike, b.yield, b.byYield = like.price, like.cost, like.risk, like.lasting, like.alike, like.yield, like.byYield
	b.borrowed = like != b
}

func (b *candidate) setYields() {
	worth := b.terms.worth
	if !b.lasting || b.borrowed {
		b.yield, b.borrowed = make([]float64, len(b.Options)), false
	}
	if !b.lasting {
		b.reckon(worth)
		b.alike = b.classes()
	}
	yields := make([]float64, len(b.alike)) // by class
	for at, class := range b.alike {
		if free := b.free[b.Options[class[0]].Kind]; free != nil {
			yields[at] = amount.Value(worth, free) / b.cost[class[0]]
		}
		for _, i := range class {
			b.yield[i] = yields[at]
		}
	}
	b.byYield = b.inClasses(byFalling(yields))
}

// reckon finds out what options come to, and what counts when they are compared.
func (b *candidate) reckon(worth []float64) {
	b.price = b.costs(worth)
	b.risk = b.risks(worth)
	b.cost = b.withRisk(b.thrifty(b.price))
}

// classes lists the options that are of one instance type and cost the same, such as
// those of several zones.
func (b *candidate) classes() [][]int {
	var out [][]int
	of := make([][]int, len(b.Kinds)) // classes, by instance type
	for i, o := range b.Options {
		at := slices.IndexFunc(of[o.Kind], func(c int) bool { return b.cost[out[c][0]] == b.cost[i] })
		if at < 0 {
			of[o.Kind] = append(of[o.Kind], len(out))
			out = append(out, []int{i})
			continue
		}
		c := of[o.Kind][at]
		out[c] = append(out[c], i)
	}
	return out
}

// inClasses lists options class by class, those of classes with the same yield
// in the order of launching.
func (b *candidate) inClasses(order []int) []int {
	out := make([]int, 0, len(b.Options))
	for len(order) > 0 {
		from, classes := len(out), 0
		for _, c := range order {
			if b.yield[b.alike[c][0]] != b.yield[b.alike[order[0]][0]] {
				break
			}
			out = append(out, b.alike[c]...)
			classes++
		}
		if classes > 1 {
			slices.Sort(out[from:])
		}
		order = order[classes:]
	}
	return out
}

// byFalling lists positions by falling value, equal ones in order.
func byFalling(values []float64) []int {
	type entry struct {
		value float64
		at    int
	}
	list := make([]entry, len(values))
	for i, v := range values {
		list[i] = entry{v, i}
	}
	slices.SortFunc(list, func(x, y entry) int {
		switch {
		case x.value > y.value:
			return -1
		case x.value < y.value:
			return 1
		}
		return x.at - y.at
	})
	out := make([]int, len(list))
	for i, e := range list {
		out[i] = e.at
	}
	return out
}

// rate finds the highest yield that each way of asking may have.
func (b *candidate) rate(a *ask) {
	a.best = 0
	for i := range a.ways {
		for _, o := range b.byYield {
			if a.ways[i].options.Has(o) && b.available.Has(o) && amount.Fits(b.free[b.Options[o].Kind], a.need) {
				a.best = max(a.best, b.yield[o])
				break
			}
		}
	}
}

// Costs of what has no price of its own, relative to the others.
const (
	reservedShare = 1e-3 // reserved capacity is paid for already
	unknownShare  = 1e3  // an unknown price is assumed to be very bad
)

// costs returns what options come to: the price; almost
// nothing for reserved capacity; and for an unknown price far more than the
// instance is worth, by size. To it comes what is paid for each instance beside
// its price, and what a full one uses of surplus credits. They last where all
// prices are known and nothing is paid for by use.
func (b *candidate) costs(worth []float64) []float64 {
	out := make([]float64, len(b.Options))
	b.lasting = b.credits == nil && !b.risky
	for i, o := range b.Options {
		offering := b.Offering(o)
		out[i] = max(1, float64(offering.Price))
		if !offering.Priced {
			b.lasting = false
			out[i] = 1
			if free := b.free[o.Kind]; free != nil {
				out[i] = max(1, unknownShare*amount.Value(worth, free))
			}
		}
		if offering.Option == cluster.Reserved {
			out[i] *= reservedShare
		}
		out[i] += float64(b.PerInstance())
		if free := b.free[o.Kind]; free != nil {
			out[i] += b.surplus(o.Kind, free)
		}
	}
	return out
}
