package supply

import (
	"encoding/binary"
	"math"
	"slices"
	"strconv"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/bound"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
)

// ColumnsOf returns some options of the pool as columns of a linear program. Each time that prices are sought,
// these are mostly the same few sets, so that their columns are kept.
func (b *Candidate) ColumnsOf(options bitset.Set) []bound.Column {
	if b.limitCostCounts() {
		return b.newColumns(options)
	}
	b.setText = AppendSet(b.setText[:0], options)
	return *b.columns.Get(b.setText, func() *columns {
		out := b.newColumns(options)
		return &out
	})
}

// newColumns leaves out a column that has no more of anything than another one that costs no more: it is not
// needed, whatever is asked for.
func (b *pricing) newColumns(options bitset.Set) []bound.Column {
	var out []bound.Column
	seen := b.kindMarks()
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		o := b.Options[i]
		offering := b.Offering(o)
		if seen[o.Kind] || !offering.Priced || offering.PaidFor() {
			continue
		}
		seen[o.Kind] = true
		c := bound.Column{
			Price: float64(offering.Price+b.PerInstance()) + b.Surplus(o.Kind, b.Free[o.Kind]) + b.LimitCost(i),
			Has:   amount.Positive(b.Free[o.Kind]),
		}
		if !slices.ContainsFunc(out, func(other bound.Column) bool { return other.Price <= c.Price && amount.Covers(other.Has, c.Has) }) {
			out = append(out, c)
		}
	}
	return out
}

// valued is what options cost and yield by one worth of resources.
type valued struct {
	prices
	yields
}

// SetYields finds what each option costs and yields by what resources are worth now. Pools with the same options share
// the answer, unless what is left of limits counts.
func (b *pricing) SetYields() {
	if b.limitCostCounts() {
		b.prices = b.pricesBy(b.Valuation.Worth)
		b.yields = b.yieldsBy(b.Valuation.Worth)
		return
	}
	known := b.common.valued.Get(b.valuedKey(), func() *valued {
		b.reckon()
		return &valued{b.prices, b.yieldsBy(b.Valuation.Worth)}
	})
	b.prices, b.yields = known.prices, known.yields
}

// valuedKey is equal where options cost and yield the same.
func (b *pricing) valuedKey() []byte {
	key := strconv.AppendBool(appendFloats(nil, b.Valuation.Worth), b.Valuation.LeastInterrupted)
	if b.Risky && !b.Valuation.LeastInterrupted {
		key = AppendSet(key, b.AvailableNow) // see risks
	}
	return key
}

func (b *pricing) yieldsBy(worth []float64) yields {
	out := yields{Yield: make([]float64, len(b.Options))}
	byClass := make([]float64, len(b.alike))
	for at, class := range b.alike {
		if free := b.Free[b.Options[class[0]].Kind]; free != nil {
			byClass[at] = amount.Value(worth, free) / b.Cost[class[0]]
		}
		for _, i := range class {
			out.Yield[i] = byClass[at]
		}
	}
	out.ByYield = b.inClasses(byFalling(byClass), byClass)
	return out
}

// reckon sets what options cost, and what counts when they are compared.
func (b *pricing) reckon() {
	if !b.limitCostCounts() {
		b.prices = *b.common.prices.Get(func() *prices {
			out := b.pricesBy(b.Valuation.Worth)
			return &out
		})
	}
	if b.limitCostCounts() || !b.Lasting {
		b.prices = b.pricesBy(b.Valuation.Worth)
	}
}

func (b *pricing) pricesBy(worth []float64) prices {
	b.Price = b.costs(worth)
	b.Risk = b.risks(worth)
	b.Cost = b.withRisk(b.thrifty(b.Price))
	b.alike = b.classes()
	return b.prices
}

// classes lists the options that are of one instance type and cost the same, such as
// those of several zones.
func (b *pricing) classes() [][]int {
	var out [][]int
	of := make([][]int, len(b.Kinds)) // classes, by instance type
	for i, o := range b.Options {
		at := slices.IndexFunc(of[o.Kind], func(c int) bool { return b.Cost[out[c][0]] == b.Cost[i] })
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
func (b *pricing) inClasses(order []int, yields []float64) []int {
	out := make([]int, 0, len(b.Options))
	for len(order) > 0 {
		from, classes := len(out), 0
		for _, c := range order {
			if yields[c] != yields[order[0]] {
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

// Rate finds the highest yield among the available options that hold one pod.
func (b *pricing) Rate(a *Ask) {
	a.Best = 0
	for i := range a.Ways {
		for _, o := range b.ByYield {
			if a.Ways[i].Options.Has(o) && b.AvailableNow.Has(o) && amount.Fits(b.Free[b.Options[o].Kind], a.need) {
				a.Best = max(a.Best, b.Yield[o])
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

// costs returns what options cost: the price; almost nothing for reserved capacity; and for an unknown price far
// more than the instance is worth, by size. It adds what each instance costs besides its price, and the surplus
// credits that a full one uses. Costs are lasting where all prices are known and nothing is billed by use.
func (b *pricing) costs(worth []float64) []float64 {
	out := make([]float64, len(b.Options))
	b.Lasting = b.Credits == nil && !b.Risky
	for i, o := range b.Options {
		offering := b.Offering(o)
		out[i] = max(1, float64(offering.Price))
		if !offering.Priced {
			b.Lasting = false
			out[i] = 1
			if free := b.Free[o.Kind]; free != nil {
				out[i] = max(1, unknownShare*amount.Value(worth, free))
			}
		}
		if offering.Option == cluster.Reserved {
			out[i] *= reservedShare
		}
		out[i] += float64(b.PerInstance())
		if free := b.Free[o.Kind]; free != nil {
			out[i] += b.Surplus(o.Kind, free)
		}
	}
	return out
}

// Twin reports whether an earlier pool has the same options at the same cost, in a question.
func (b *Candidate) Twin() bool { return b.Like != nil && b.Like != b }

// Steady reports whether costs follow from the options alone: sustained took nothing off, and the pool has neither
// surplus credits nor limits.
func (b *obtainable) Steady() bool { return b.Whole == nil && b.Credits == nil && b.Remaining == nil }

// OffersAs reports whether two pools have the same options at the same prices, apart from limits and credits.
func (b *Candidate) OffersAs(other *Candidate) bool {
	return !b.Parted && b.common == other.common || b.Catalogue == other.Catalogue && b.PerInstance() == other.PerInstance() && !b.Parted && !other.Parted &&
		slices.Equal(b.Options, other.Options) && slices.EqualFunc(b.Free, other.Free, func(x, y []int64) bool { return (x == nil) == (y == nil) && slices.Equal(x, y) })
}

// OffersLikewise reports whether pods may have the same options of the pool as of the one that it is like,
// whatever other pods they share an instance with.
func (b *Candidate) OffersLikewise(wants *cluster.Shape) bool {
	mine, _ := b.Terms(wants)
	theirs, _ := b.Like.Terms(wants)
	return feasibility.Avoided(b.Taints, wants.Tolerations) == feasibility.Avoided(b.Like.Taints, wants.Tolerations) &&
		slices.EqualFunc(mine, theirs, func(x, y feasibility.Term) bool {
			return len(x.Custom) == 0 && len(y.Custom) == 0 && slices.Equal(x.Options, y.Options)
		})
}

// MostFree is what an instance of the type has for pods, surplus credits included.
func (b *instances) MostFree(kind int) []int64 {
	if b.Whole != nil {
		return b.Whole[kind]
	}
	return b.Free[kind]
}

// AvailableAs returns one instance of the type at this cost, as offerings of a linear program. Cpu beyond what it
// can sustain is a second offering, billed by use.
func (b *instances) AvailableAs(kind int, cost float64, open uint64) []bound.Offering {
	has := amount.Positive(b.Free[kind])
	c := b.creditOf(kind)
	if c == nil {
		return []bound.Offering{{Column: bound.Column{Price: cost, Has: has}, Open: open}}
	}
	has[amount.CPU] = float64(max(0, c.lasting))
	more := make([]float64, len(has))
	more[amount.CPU] = 1000
	return []bound.Offering{
		{Column: bound.Column{Price: cost, Has: has}, Open: open},
		{Column: bound.Column{Price: 1000 * c.price, Has: more}, Open: open},
	}
}

// AppendAmounts appends a text that is equal for equal amounts, as the key of a map.
func AppendAmounts(text []byte, amounts []int64) []byte {
	for _, v := range amounts {
		text = binary.LittleEndian.AppendUint64(text, uint64(v))
	}
	return text
}

// appendFloats appends a text that is equal for equal numbers.
func appendFloats(text []byte, numbers []float64) []byte {
	text = binary.LittleEndian.AppendUint64(slices.Grow(text, 8*(1+len(numbers))), uint64(len(numbers)))
	for _, v := range numbers {
		text = binary.LittleEndian.AppendUint64(text, math.Float64bits(v))
	}
	return text
}
