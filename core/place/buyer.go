package place

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/bound"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/fit"
	"github.com/daemok/daemok/core/parallel"
	"github.com/daemok/daemok/core/quantity"
)

// buyer is one pool while machines are bought from it.
type buyer struct {
	*fit.Pool
	run       *run
	at        int // position among the buyers
	available bitset.Set
	within    bitset.Set          // the options that the pool's limits still allow
	limits    *limits             // nil where the pool has none
	hurdles   []fit.Hurdle        // what the limits are in the way of; see bounds
	free      [][]int64           // for pods, by kind; nil where daemon pods alone are too much
	whole     [][]int64           // likewise, with cpu beyond what a kind can use for ever; nil: the same
	credits   []*credit           // by kind; nil where none has any
	cost      []float64           // by option: what counts when options are compared, see costs
	yield     []float64           // by option: worth of what it holds per cost, at most about 1
	byYield   []int               // options by falling yield
	asks      []*ask              // by group.at
	marks     []bool              // by kind: see kindMarks
	ofKind    [][]int             // see optionsOf
	regions   *regions            // of options that are the same to all that are bought for
	regionsOf map[string]*regions // by keys, see regionsBy
	kits      *regions            // see run.kits
	inDomain  map[int][]int32     // by topology key and option: the domain
	varied    bool                // some requirement has minValues
	choices   map[string]*choices // by what launches leave open
	lots      map[string]*lot
	lastLot   *lot
	setText   []byte // kept for its memory
}

// ask is how one group may use one pool.
type ask struct {
	ways []way
	need []int64    // of one pod
	any  bitset.Set // the options of all ways
	best float64    // highest yield among the options that hold a pod of the group
}

// way is one of the pod's alternatives.
type way struct {
	options bitset.Set // those that can be had now
	term    fit.Term
	lot     *lot
	first   int  // the option bought first for one pod alone
	barred  bool // minValues cannot be kept
}

func newBuyer(p *fit.Pool, d dims) *buyer {
	b := &buyer{Pool: p, available: p.Available()}
	b.within = b.available.Clone()
	b.free = make([][]int64, len(p.Kinds))
	for k := range p.Kinds {
		if p.Kinds[k].Daemons.FitsIn(p.Kinds[k].Free.Add(p.Kinds[k].Daemons)) {
			b.free[k] = d.vector(p.Kinds[k].Free, p.Catalogue.Kinds[k].Attachable)
		}
	}
	b.calm()
	for i, o := range p.Options {
		if b.free[o.Kind] == nil {
			b.available.Remove(i)
		}
	}
	b.limits = newLimits(p.Pool)
	b.narrow()
	b.varied = slices.ContainsFunc(b.Requirements, func(q constraint.Requirement) bool { return q.MinValues > 0 })
	return b
}

// calm takes off the cpu that a kind can use for a while only: pods ask for
// what they use all the time, and beyond it such machines are throttled or
// billed for more than their price. It stays where that bill is known and the
// pool has no other machines. Of kinds that are a last resort nothing is left.
func (b *buyer) calm() {
	others := b.sellsSteady()
	for k := range b.free {
		kind := &b.Catalogue.Kinds[k]
		if b.free[k] == nil || !bursts(kind) && !kind.LastResort {
			continue
		}
		if b.noteCredit(k); !others && b.creditOf(k) != nil && !kind.LastResort {
			continue
		}
		if b.whole == nil {
			b.whole = slices.Clone(b.free)
		}
		if kind.LastResort {
			b.free[k] = make([]int64, len(b.free[k]))
			continue
		}
		b.free[k] = slices.Clone(b.free[k])
		b.free[k][dimCPU] -= int64(kind.Capacity.CPU - kind.Sustained)
	}
}

// wouldDoWhole reports whether a machine has room for one pod once that cpu is
// given back.
func (b *buyer) wouldDoWhole(terms []fit.Term, need []int64) bool {
	return b.whole != nil && slices.ContainsFunc(terms, func(t fit.Term) bool {
		for i := t.Options.Next(0); i >= 0; i = t.Options.Next(i + 1) {
			if free := b.whole[b.Options[i].Kind]; b.available.Has(i) && free != nil && fits(free, need) {
				return true
			}
		}
		return false
	})
}

// unleash gives that back, because some pods can have no other machine.
func (b *buyer) unleash() bool {
	if b.whole == nil {
		return false
	}
	b.free, b.whole = b.whole, nil
	b.lots, b.lastLot, b.choices = nil, nil, nil
	if b.cost != nil && b.credits != nil {
		b.cost = b.costs(b.run.worth)
	}
	return true
}

// narrow keeps the options that the limits allow one more machine of.
func (b *buyer) narrow() {
	b.within = b.available.Clone()
	if b.limits == nil {
		return
	}
	for i := b.within.Next(0); i >= 0; i = b.within.Next(i + 1) {
		if !b.limits.allow(b.Kind(b.Options[i]).Capacity) {
			b.within.Remove(i)
		}
	}
}

// value sets what options yield, given what one unit of each resource is
// worth.
func (b *buyer) value(worth []float64) {
	b.cost = b.costs(worth)
	b.yield = make([]float64, len(b.Options))
	full := make([]float64, len(b.free)) // worth of a full machine, by kind
	for k, free := range b.free {
		if free != nil {
			full[k] = value(worth, free)
		}
	}
	for i, o := range b.Options {
		b.yield[i] = full[o.Kind] / b.cost[i]
	}
	b.byYield = byFalling(b.yield)
	b.rateAll()
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
func (b *buyer) rate(a *ask) {
	a.best = 0
	for i := range a.ways {
		for _, o := range b.byYield {
			if a.ways[i].options.Has(o) && b.available.Has(o) && fits(b.free[b.Options[o].Kind], a.need) {
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

// costs returns what counts when options are compared: the price; almost
// nothing for reserved capacity; and for an unknown price far more than the
// machine is worth, by size. To it comes what is paid for each machine beside
// its price, and what a full one uses of surplus credits.
func (b *buyer) costs(worth []float64) []float64 {
	out := make([]float64, len(b.Options))
	for i, o := range b.Options {
		offer := b.Offer(o)
		out[i] = max(1, float64(offer.Price))
		if !offer.Priced {
			out[i] = 1
			if free := b.free[o.Kind]; free != nil {
				out[i] = max(1, unknownShare*value(worth, free))
			}
		}
		if offer.Option == cluster.Reserved {
			out[i] *= reservedShare
		}
		out[i] += float64(b.PerMachine())
		if free := b.free[o.Kind]; free != nil {
			out[i] += b.surplus(o.Kind, free)
		}
	}
	return out
}

// ask returns how the group may use the pool.
func (b *buyer) ask(g *group, groups int) *ask {
	if b.asks == nil {
		b.asks = make([]*ask, groups)
	}
	if b.asks[g.at] == nil {
		b.asks[g.at] = b.newAsk(g)
	}
	return b.asks[g.at]
}

func (b *buyer) newAsk(g *group) *ask {
	out := &ask{need: g.need}
	if g.level.strict && fit.Avoided(b.Taints, g.shape.Tolerations) {
		b.rate(out)
		return out
	}
	terms, _ := b.Terms(g.wants)
	for _, t := range terms {
		lot := b.lotOf(t.Options)
		if first := b.first(lot, g.need); first >= 0 {
			out.ways = append(out.ways, way{options: lot.options, term: t, lot: lot, first: first})
			if out.any == nil {
				out.any = bitset.New(len(b.Options))
			}
			out.any.Or(t.Options)
		}
	}
	slices.SortStableFunc(out.ways, func(x, y way) int { return cmp.Compare(x.first, y.first) })
	if len(out.ways) == 0 && b.wouldDoWhole(terms, g.need) && b.unleash() {
		return b.newAsk(g)
	}
	b.rate(out)
	return out
}

// prices asks what one unit of each resource is worth when all pods are to be
// bought for at once and nothing but amounts counts.
func (r *run) prices() {
	r.worth = blend(positive(r.demand.all.sum), r.columns())
	if !slices.ContainsFunc(r.worth, func(w float64) bool { return w > 0 }) {
		r.worth = r.usual()
	}
	parallel.Each(len(r.buyers), func(i int) { r.buyers[i].value(r.worth) })
	r.repriceAt = r.toPlace() / 2
}

// leaning is by how much more of one resource is assumed when prices are
// sought: what is nearly scarce has a price too then, and machines are not
// filled as if it were free.
const leaning = 1.3

// blend returns the mean of what resources are worth when a little more of
// each in turn is asked for. No machine is worth more than its price.
func blend(demand []float64, columns []bound.Column) []float64 {
	sum := make([]float64, len(demand))
	asked := 0.0
	for i := range demand {
		if demand[i] <= 0 {
			continue
		}
		more := slices.Clone(demand)
		more[i] *= leaning
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

// columns lists what can be bought at known prices for pods that are left,
// each kind once a pool, at its best price. What no pod can use has no say.
// Each pool is asked by one goroutine, since it remembers its answers.
func (r *run) columns() []bound.Column {
	byPool := make([][]bound.Column, len(r.buyers))
	parallel.Each(len(r.buyers), func(i int) { byPool[i] = r.columnsOf(r.buyers[i]) })
	return slices.Concat(byPool...)
}

func (r *run) columnsOf(b *buyer) []bound.Column {
	var out []bound.Column
	seen := make([]bool, len(b.free))
	useful := r.useful(b)
	for i := useful.Next(0); i >= 0; i = useful.Next(i + 1) {
		o := b.Options[i]
		if offer := b.Offer(o); seen[o.Kind] || !offer.Priced || offer.Option == cluster.Reserved {
			continue
		}
		seen[o.Kind] = true
		price := float64(b.Offer(o).Price+b.PerMachine()) + b.surplus(o.Kind, b.free[o.Kind])
		out = append(out, bound.Column{Price: price, Has: positive(b.free[o.Kind])})
	}
	return out
}

// useful returns the options that can be had for some pod that is left.
func (r *run) useful(b *buyer) bitset.Set {
	out := bitset.New(len(b.Options))
	var lots []*lot
	for _, g := range r.groups {
		if g.left() == 0 {
			continue
		}
		for _, w := range b.ask(g, len(r.groups)).ways {
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

func positive(amounts []int64) []float64 {
	out := make([]float64, len(amounts))
	for i, v := range amounts {
		out[i] = float64(max(0, v))
	}
	return out
}

// usual is what resources are worth where no price is known: a core as much
// as seven GiB of memory, as the market has it within a factor of two.
func (r *run) usual() []float64 {
	out := make([]float64, r.dims.len())
	out[dimCPU] = 30
	for i, name := range r.dims.resources {
		if name == quantity.NameMemory {
			out[i] = 4000 / float64(quantity.GiB)
		}
	}
	return out
}

// joins returns the first way in which the group may share a machine that is
// bought by the option and limited by the requirements on custom keys.
func (a *ask) joins(option int, custom constraint.Requirements) (*way, bool) {
	for i := range a.ways {
		w := &a.ways[i]
		if !w.options.Has(option) {
			continue
		}
		if len(w.term.Custom) == 0 || len(custom) == 0 {
			return w, true
		}
		if _, conflict := custom.Conflict(w.term.Custom); !conflict {
			return w, true
		}
	}
	return nil, false
}
