package supply

import (
	"math"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/quantity"
)

// limits is what the limits of a pool still allow.
type limits struct {
	Left  []quantity.Extended // of each limited resource
	Nodes *int64
	First *limits // what it was at the beginning
}

// newLimits returns nil where nothing is limited.
func newLimits(p *cluster.Pool) *limits {
	if len(p.Limits.Amounts) == 0 && p.Limits.Nodes == nil {
		return nil
	}
	out := &limits{}
	for _, l := range p.Limits.Amounts {
		out.Left = append(out.Left, quantity.Extended{Name: l.Name, Amount: quantity.Difference(l.Amount, p.Usage.Get(l.Name))})
	}
	if p.Limits.Nodes != nil {
		n := *p.Limits.Nodes - p.Nodes
		out.Nodes = &n
	}
	out.First = out.Clone()
	return out
}

func (l *limits) Clone() *limits {
	out := &limits{Left: slices.Clone(l.Left)}
	if l.Nodes != nil {
		n := *l.Nodes
		out.Nodes = &n
	}
	return out
}

// allow reports whether one more instance of this capacity may be launched.
func (l *limits) allow(capacity quantity.Resources) bool {
	if l.Nodes != nil && *l.Nodes < 1 {
		return false
	}
	return !slices.ContainsFunc(l.Left, func(e quantity.Extended) bool { return capacity.Get(e.Name) > e.Amount })
}

// More is how many instances by the option the pool may launch.
func (b *obtainable) More(option int) int64 {
	n := int64(math.MaxInt64)
	if b.Remaining == nil {
		return n
	}
	if b.Remaining.Nodes != nil {
		n = *b.Remaining.Nodes
	}
	capacity := b.InstanceType(b.Options[option]).Capacity
	for _, e := range b.Remaining.Left {
		if each := capacity.Get(e.Name); each > 0 {
			n = min(n, e.Amount/each)
		}
	}
	return n
}

// Use accounts for an instance that was launched.
func (l *limits) Use(capacity quantity.Resources) {
	if l.Nodes != nil {
		*l.Nodes--
	}
	for i := range l.Left {
		l.Left[i].Amount -= capacity.Get(l.Left[i].Name)
	}
}

// GiveBack accounts for an instance that is not launched after all.
func (l *limits) GiveBack(capacity quantity.Resources) {
	if l.Nodes != nil {
		*l.Nodes++
	}
	for i := range l.Left {
		l.Left[i].Amount += capacity.Get(l.Left[i].Name)
	}
}

// noLarger reports whether a takes no more of the limited resources than b.
func (l *limits) noLarger(a, b quantity.Resources) bool {
	for _, e := range l.Left {
		if a.Get(e.Name) > b.Get(e.Name) {
			return false
		}
	}
	return true
}

// limitCostCounts reports whether what instances take of the pool's limits counts as a cost.
func (b *pricing) limitCostCounts() bool { return b.Remaining != nil && b.Valuation.LimitCost > 0 }

// LimitCost is what counts as the cost of what an instance of the type takes of the pool's limits; see
// Valuation.LimitCost.
func (b *pricing) LimitCost(kind int) float64 {
	if !b.limitCostCounts() {
		return 0
	}
	return float64(b.Valuation.LimitCost * b.Remaining.share(b.InstanceTypeAt(kind).Capacity))
}

// thrifty adds LimitCost to prices.
func (b *pricing) thrifty(prices []float64) []float64 {
	if !b.limitCostCounts() {
		return prices
	}
	out := slices.Clone(prices)
	for i, o := range b.Options {
		out[i] += b.LimitCost(o.Kind)
	}
	return out
}

// share is the part of what was left at the beginning that such an instance takes, added up over all that is
// limited.
func (l *limits) share(capacity quantity.Resources) float64 {
	sum := 0.0
	for _, e := range l.First.Left {
		sum += float64(capacity.Get(e.Name)) / float64(max(1, e.Amount))
	}
	if l.Nodes != nil {
		sum += 1 / float64(max(1, *l.First.Nodes))
	}
	return sum
}

// Used reports whether less is left than at the beginning.
func (l *limits) Used() bool {
	return !slices.Equal(l.Left, l.First.Left) || l.Nodes != nil && *l.Nodes != *l.First.Nodes
}

// HeldBack reports whether limits forbid an instance that has room for pods that want this and need so much.
func (b *obtainable) HeldBack(wants *cluster.Shape, need []int64) bool {
	if wants.Unable != "" {
		return false
	}
	terms, _ := b.Terms(wants)
	return slices.ContainsFunc(terms, func(t feasibility.Term) bool {
		for i := t.Options.Next(0); i >= 0; i = t.Options.Next(i + 1) {
			if b.AvailableNow.Has(i) && !b.WithinLimits.Has(i) && amount.Fits(b.MostFree(b.Options[i].Kind), need) {
				return true
			}
		}
		return false
	})
}
