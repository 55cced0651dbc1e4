package place

import (
	"math"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/quantity"
)

// limits is what a pool may still own.
type limits struct {
	left  []quantity.Extended // of each limited resource
	nodes *int64
	first *limits // what it was at the beginning
}

// newLimits returns nil where nothing is limited.
func newLimits(p *cluster.Pool) *limits {
	if len(p.Limits.Amounts) == 0 && p.Limits.Nodes == nil {
		return nil
	}
	out := &limits{}
	for _, l := range p.Limits.Amounts {
		out.left = append(out.left, quantity.Extended{Name: l.Name, Amount: quantity.Difference(l.Amount, p.Usage.Get(l.Name))})
	}
	if p.Limits.Nodes != nil {
		n := *p.Limits.Nodes - p.Nodes
		out.nodes = &n
	}
	out.first = out.clone()
	return out
}

func (l *limits) clone() *limits {
	out := &limits{left: slices.Clone(l.left)}
	if l.nodes != nil {
		n := *l.nodes
		out.nodes = &n
	}
	return out
}

// allow reports whether one more instance of this capacity may be launched.
func (l *limits) allow(capacity quantity.Resources) bool {
	if l.nodes != nil && *l.nodes < 1 {
		return false
	}
	return !slices.ContainsFunc(l.left, func(e quantity.Extended) bool { return capacity.Get(e.Name) > e.Amount })
}

// more is how many instances by the option the pool may launch.
func (b *candidate) more(option int) int64 {
	n := int64(math.MaxInt64)
	if b.limits == nil {
		return n
	}
	if b.limits.nodes != nil {
		n = *b.limits.nodes
	}
	capacity := b.InstanceType(b.Options[option]).Capacity
	for _, e := range b.limits.left {
		if each := capacity.Get(e.Name); each > 0 {
			n = min(n, e.Amount/each)
		}
	}
	return n
}

// use accounts for an instance that was ordered.
func (l *limits) use(capacity quantity.Resources) {
	if l.nodes != nil {
		*l.nodes--
	}
	for i := range l.left {
		l.left[i].Amount -= capacity.Get(l.left[i].Name)
	}
}

// giveBack accounts for an instance that is not ordered after all.
func (l *limits) giveBack(capacity quantity.Resources) {
	if l.nodes != nil {
		*l.nodes++
	}
	for i := range l.left {
		l.left[i].Amount += capacity.Get(l.left[i].Name)
	}
}

// noLarger reports whether a costs no more of the limited resources than b.
func (l *limits) noLarger(a, b quantity.Resources) bool {
	for _, e := range l.left {
		if a.Get(e.Name) > b.Get(e.Name) {
			return false
		}
	}
	return true
}

// limitCost is what an instance of the type counts for what it takes of the pool's
// limits, see Options.Thrift.
func (b *candidate) limitCost(kind int) float64 {
	if b.limits == nil || b.terms.limitCost <= 0 {
		return 0
	}
	return float64(b.terms.limitCost * b.limits.share(b.InstanceTypeAt(kind).Capacity))
}

// thrifty adds that to prices.
func (b *candidate) thrifty(prices []float64) []float64 {
	if b.limits == nil || b.terms.limitCost <= 0 {
		return prices
	}
	out := slices.Clone(prices)
	for i, o := range b.Options {
		out[i] += b.limitCost(o.Kind)
	}
	return out
}

// share is which part of what there was at the beginning such an instance takes,
// of all that is limited together.
func (l *limits) share(capacity quantity.Resources) float64 {
	sum := 0.0
	for _, e := range l.first.left {
		sum += float64(capacity.Get(e.Name)) / float64(max(1, e.Amount))
	}
	if l.nodes != nil {
		sum += 1 / float64(max(1, *l.first.nodes))
	}
	return sum
}

// used reports whether instances were ordered that count.
func (l *limits) used() bool {
	return !slices.Equal(l.left, l.first.left) || l.nodes != nil && *l.nodes != *l.first.nodes
}

// short reports whether pods are left for which a pool that instances are launched
// from offerings some that its limits forbid now.
func (li *lister) short() bool {
	for _, b := range li.run.candidates {
		if b.limits != nil && b.limits.used() && slices.ContainsFunc(li.run.waiting, func(g *group) bool {
			return g.left() > 0 && b.heldBack(g.podClass.required().wants, g.need)
		}) {
			return true
		}
	}
	return false
}

// heldBack reports whether limits forbid some instance for pods that want this and need so much.
func (b *candidate) heldBack(wants *cluster.Shape, need []int64) bool {
	if wants.Unable != "" {
		return false
	}
	terms, _ := b.Terms(wants)
	return slices.ContainsFunc(terms, func(t feasibility.Term) bool {
		for i := t.Options.Next(0); i >= 0; i = t.Options.Next(i + 1) {
			if b.available.Has(i) && !b.within.Has(i) && amount.Fits(b.mostFree(b.Options[i].Kind), need) {
				return true
			}
		}
		return false
	})
}
