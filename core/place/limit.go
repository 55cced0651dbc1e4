package place

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/fit"
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
	return l.short(capacity).OK()
}

// short names the first limit that one more machine of this capacity breaks.
func (l *limits) short(capacity quantity.Resources) fit.Reason {
	if l.nodes != nil && *l.nodes < 1 {
		return fit.Reason{Rule: fit.Limit, Key: "nodes", Text: "limit nodes is reached"}
	}
	for _, e := range l.left {
		if need := capacity.Get(e.Name); need > e.Amount {
			short := fit.Amount(e.Name, need-max(0, e.Amount))
			return fit.Reason{Rule: fit.Limit, Key: e.Name, Text: "limit " + e.Name + " is " + short + " short"}
		}
	}
	return fit.Reason{}
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

// noLarger reports whether a costs no more of the limited resources than b.
func (l *limits) noLarger(a, b quantity.Resources) bool {
	for _, e := range l.left {
		if a.Get(e.Name) > b.Get(e.Name) {
			return false
		}
	}
	return true
}

// over is how much of the first limit that it breaks a machine is too large.
func (l *limits) over(capacity quantity.Resources) int64 {
	for _, e := range l.left {
		if need := capacity.Get(e.Name); need > e.Amount {
			return need - e.Amount
		}
	}
	return 0
}
