package place

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/fit"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// nearness orders reasons: what is nearest to a yes, and easiest to change,
// first.
var nearness = []fit.Rule{fit.Effort, fit.Unavailable, fit.Limit, fit.Topology, fit.MinValues, fit.NotReady, fit.Resource, fit.NoType, fit.Label, fit.Taint}

// unplaced tells for each pool why the rest of the group cannot have a
// machine of it, the nearest pool first.
func (r *run) unplaced(g *group) plan.Unplaced {
	out := plan.Unplaced{Shape: g.shape}
	for _, w := range g.pods[g.placed:] {
		out.Pods = append(out.Pods, *w.Pod)
	}
	switch {
	case g.shape.Unable != "":
		out.Reasons = []plan.Reason{{Text: g.shape.Unable}}
		return out
	case r.used(g.kin):
		out.Reasons = []plan.Reason{{Text: "a volume claim of it is ReadWriteOncePod, and another pod uses it"}}
		return out
	case len(r.buyers) == 0:
		out.Reasons = []plan.Reason{{Text: "no pool exists, and no node has room"}}
		return out
	}
	all := g.judged
	if all == nil {
		all = r.judgeAnew(g)
	}
	slices.SortStableFunc(all, func(x, y judged) int {
		return cmp.Compare(slices.Index(nearness, x.why.Rule), slices.Index(nearness, y.why.Rule))
	})
	for _, j := range all {
		text := j.why.Text
		if j.why.Rule == fit.Taint {
			text += ": tolerate it, or use another pool"
		}
		out.Reasons = append(out.Reasons, plan.Reason{Pool: j.pool, Text: text})
	}
	return out
}

// judged is why a pool has no machine for pods of a group.
type judged struct {
	pool cluster.PoolID
	why  fit.Reason
}

// judge asks all pools about pods that could not be bought for.
func (r *run) judge(row *group) []judged {
	out := make([]judged, len(r.buyers))
	for i, b := range r.buyers {
		out[i] = judged{b.ID, r.why(b, row)}
	}
	return out
}

// judgeAnew asks all pools about pods for which it did not come to buying: a
// pool that has machines for them is ruled out by other pods.
func (r *run) judgeAnew(g *group) []judged {
	question := &group{shape: g.shape, kin: g.kin, need: g.need, of: g, level: g.kin.required(), wants: g.kin.required().wants}
	out := make([]judged, len(r.buyers))
	for i, b := range r.buyers {
		a := b.newAsk(question)
		out[i] = judged{b.ID, a.why}
		if len(a.ways) > 0 {
			out[i].why = fit.Reason{Rule: fit.Topology, Text: r.board.Explain(question.level.rules)}
			if r.out.Exhausted {
				out[i].why = untried
			}
		}
	}
	return out
}

var untried = fit.Reason{Rule: fit.Effort, Text: "not tried: the effort for this plan was used up"}

func (r *run) why(b *buyer, g *group) fit.Reason {
	a := b.ask(g, len(r.groups))
	if len(a.ways) == 0 {
		return a.why
	}
	var why fit.Reason
	for i := range a.ways {
		w := &a.ways[i]
		if b.firstWithin(w, g) < 0 {
			return b.limits.short(b.least(w, g))
		}
		if w.barred {
			why = w.why
		}
	}
	if why.OK() {
		return untried
	}
	return why
}

// least returns the capacity of the machine for one pod of the group that
// comes nearest to the limits.
func (b *buyer) least(w *way, g *group) (out quantity.Resources) {
	best := int64(-1)
	for i := w.options.Next(0); i >= 0; i = w.options.Next(i + 1) {
		o := b.Options[i]
		if !b.available.Has(i) || !fits(b.free[o.Kind], g.need) {
			continue
		}
		c := b.Kind(o).Capacity
		if over := b.limits.over(c); best < 0 || over < best {
			out, best = c, over
		}
	}
	return out
}
