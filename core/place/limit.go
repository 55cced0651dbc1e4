package place

import (
	"math"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// limits is what a pool may still own.
type limits struct {
	left  []quantity.Extended // of each limited resource
	nodes *int64
}

// newLimits returns nil where nothing is limited.
func newLimits(p *cluster.Pool) *limits {
	if len(p.Limits.Amounts) == 0 && p.Limits.Nodes == nil {
		return nil
	}
	out := &limits{}
	for _, l := range p.Limits.Amounts {
		out.left = append(out.left, quantity.Extended{Name: l.Name, Amount: l.Amount - p.Usage.Get(l.Name)})
	}
	if p.Limits.Nodes != nil {
		n := *p.Limits.Nodes - p.Nodes
		out.nodes = &n
	}
	return out
}

// allow reports whether one more machine of this capacity may be bought.
func (l *limits) allow(capacity quantity.Resources) bool {
	if l.nodes != nil && *l.nodes < 1 {
		return false
	}
	return !slices.ContainsFunc(l.left, func(e quantity.Extended) bool { return capacity.Get(e.Name) > e.Amount })
}

// more is how many machines by the option the pool may buy.
func (b *buyer) more(option int) int64 {
	n := int64(math.MaxInt64)
	if b.limits == nil {
		return n
	}
	if b.limits.nodes != nil {
		n = *b.limits.nodes
	}
	capacity := b.Kind(b.Options[option]).Capacity
	for _, e := range b.limits.left {
		if each := capacity.Get(e.Name); each > 0 {
			n = min(n, e.Amount/each)
		}
	}
	return n
}

// use accounts for a machine that was ordered.
func (l *limits) use(capacity quantity.Resources) {
	if l.nodes != nil {
		*l.nodes--
	}
	for i := range l.left {
		l.left[i].Amount -= capacity.Get(l.left[i].Name)
	}
}

// giveBack accounts for a machine that is not ordered after all.
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
