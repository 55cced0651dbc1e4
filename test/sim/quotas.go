package sim

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// quotas are limits that pools share: CapacityQuotas.
type quotas struct {
	world     *World
	list      []cluster.Quota
	changedAt time.Time // when people last changed one
}

// draw draws up to two quotas, and a limit on what the nodes of a pool may cost.
func (x *quotas) draw() {
	w := x.world
	r := w.chance("quotas")
	if r.IntN(3) == 0 {
		for i := range 1 + r.IntN(2) {
			if one := drawQuota(r, fmt.Sprintf("quota%d", i)); w.part(one.Name) {
				x.list = append(x.list, one)
			}
		}
	}
	if most := drawCost(r); r.IntN(4) == 0 && w.part("cost limit") {
		w.pools[0].Limits.Cost = &most
	}
}

func drawCost(r *rand.Rand) quantity.MicroUSDPerHour {
	return quantity.MicroUSDPerHour(300_000 + r.Int64N(3_000_000))
}

func drawQuota(r *rand.Rand, name string) cluster.Quota {
	out := cluster.Quota{Name: name}
	switch r.IntN(4) {
	case 0:
		out.Selector = constraint.NewRequirements(constraint.Requirement{Key: cluster.LabelZone,
			Set: constraint.Values(zones[r.IntN(len(zones))])})
	case 1:
		out.Selector = constraint.NewRequirements(constraint.Requirement{Key: cluster.LabelCapacityType,
			Set: constraint.Values([]string{"on-demand", "spot"}[r.IntN(2)])})
	case 2:
		out.Selector = constraint.NewRequirements(constraint.Requirement{Key: "karpenter.sh/nodepool",
			Set: constraint.Values(fmt.Sprintf("p%d", r.IntN(3)))})
	}
	nodes, cost := 2+r.Int64N(10), drawCost(r)
	switch r.IntN(3) {
	case 0:
		out.Limits.Nodes = &nodes
	case 1:
		out.Limits.Amounts = []quantity.Extended{{Name: "cpu", Amount: 8_000 * (1 + r.Int64N(10))}}
	default:
		out.Limits.Cost = &cost
	}
	return out
}

// change has people change the limits of quotas.
func (x *quotas) change() {
	for i := range x.list {
		q := &x.list[i]
		x.world.trouble("change "+q.Name, 3, 15*time.Minute, 40*time.Minute, func(r *rand.Rand) {
			q.Limits = drawQuota(r, q.Name).Limits
			x.changedAt = x.world.now
			x.world.say("%s limits %v", q, q.Limits.List())
			x.world.changed()
		})
	}
}

// show adds the quotas, and what nodes cost where a pool limits it, to a snapshot that has all else.
func (x *quotas) show(s *cluster.Snapshot) {
	s.Quotas = slices.Clone(x.list)
	for i := range s.Quotas {
		s.CountQuota(&s.Quotas[i])
	}
	for i := range s.Pools {
		s.CountCost(&s.Pools[i])
	}
}

// over says which limit that instances count against is exceeded by further ones; empty: none is.
func (x *quotas) over(s *cluster.Snapshot, more []cluster.Instance) string {
	out := *s
	out.Pools, out.Quotas = slices.Clone(s.Pools), slices.Clone(s.Quotas)
	for i := range more {
		out.Charge(&more[i])
	}
	for i := range out.Quotas {
		q := &out.Quotas[i]
		if why := exceeds(&q.Limits, &s.Quotas[i].Used, &q.Used); why != "" {
			return fmt.Sprintf("%s: %s", q, why)
		}
	}
	for i := range out.Pools {
		p := &out.Pools[i]
		limits := cluster.Limits{Cost: p.Limits.Cost} // all others are looked at elsewhere
		if why := exceeds(&limits, &s.Pools[i].Used, &p.Used); why != "" {
			return fmt.Sprintf("%s: %s", p.ID, why)
		}
	}
	return ""
}

// exceeds says what there is too much of after more was added.
func exceeds(limits *cluster.Limits, before, after *cluster.Used) string {
	for _, l := range limits.List() {
		if n := after.Of(l.Name); n > l.Amount && n > before.Of(l.Name) {
			return fmt.Sprintf("%s of %s, and there may be %s", cluster.FormatLimit(l.Name, n), l.Name,
				cluster.FormatLimit(l.Name, l.Amount))
		}
	}
	return ""
}

// lateFor is for how long a change may be unknown to who decides.
const lateFor = 2 * time.Minute

// ordering looks at an instance that is about to be ordered. What people changed a moment ago none can know, nor what
// nodes cost by overlays.
func (x *quotas) ordering(m *instance) {
	w := x.world
	late := !x.changedAt.IsZero() && w.now.Sub(x.changedAt) < lateFor
	if late || !x.limits() || len(w.kept.overlays) > 0 {
		return
	}
	if why := x.over(w.photo(), []cluster.Instance{w.instance(m)}); why != "" {
		w.broken("quota", nil, nil, "with %s there is too much by %s", m.claim, why)
	}
}

// limits reports whether there is anything that limits nodes by a quota or their cost.
func (x *quotas) limits() bool {
	costs := func(p *pool) bool { return p.Limits.Cost != nil }
	return len(x.list) > 0 || slices.ContainsFunc(x.world.pools, costs)
}

// planned looks at what a plan launches for pods, by what it was made from.
func (x *quotas) planned(s *cluster.Snapshot, p *plan.Plan) {
	w := x.world
	if len(p.Launches) == 0 || !x.limits() {
		return
	}
	var more []cluster.Instance
	for i := range p.Launches {
		l := &p.Launches[i]
		if at := slices.IndexFunc(w.pools, func(p *pool) bool { return p.ID == l.Pool }); at >= 0 {
			m := &instance{claim: l.Name, pool: w.pools[at], launch: l, orderedAt: w.now}
			more = append(more, w.instance(m))
		}
	}
	if why := x.over(s, more); why != "" {
		w.broken("quota", s, p, "with what the plan launches there is too much by %s", why)
	}
}

// overAll is over as things are, for instances that are yet to be ordered.
func (x *quotas) overAll(claims []*instance) string {
	var more []cluster.Instance
	for _, m := range claims {
		more = append(more, x.world.instance(m))
	}
	return x.over(x.world.photo(), more)
}
