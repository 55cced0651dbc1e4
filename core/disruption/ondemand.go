package disruption

import (
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
)

// balances is the nodes of pools with a minimum of on-demand nodes, as they are once all that was decided is done.
// Pools without one, and pools that are being deleted, are not in it.
type balances map[cluster.PoolID]*poolBalance

type poolBalance struct {
	cluster.Balance
	least cluster.Minimum
}

func balancesOf(s *cluster.Snapshot) balances {
	var out balances
	for i := range s.Pools {
		if p := &s.Pools[i]; p.OnDemand.Any() && p.NotReady != cluster.PoolDeleting {
			if out == nil {
				out = balances{}
			}
			out[p.ID] = &poolBalance{s.Balance(p.ID), p.OnDemand}
		}
	}
	return out
}

// without says why a node of the pool, or an instance being launched, may not go, even if these are launched: the pool
// would have fewer on-demand nodes than its minimum, see cluster.Minimum.Lowers; empty: it may.
func (b balances) without(id cluster.PoolID, spot bool, with *place.Result) string {
	of := b[id]
	if of == nil {
		return ""
	}
	after := of.after(id, spot, with)
	if !of.least.Lowers(of.Balance, after) {
		return ""
	}
	return fmt.Sprintf("%s of %s of %s: without it %d of %d nodes are on demand", cluster.LimitOnDemand, of.least, id,
		after.OnDemand, after.OnDemand+after.Spot)
}

func (b *poolBalance) after(id cluster.PoolID, spot bool, with *place.Result) cluster.Balance {
	out := b.Balance
	out.Count(spot, -1)
	if with != nil {
		for i := range with.Launches {
			if l := &with.Launches[i]; l.Pool == id {
				out.Count(l.MayBeSpot(), 1)
			}
		}
	}
	return out
}

// take counts that the node goes, and that these are launched.
func (b balances) take(id cluster.PoolID, spot bool, with *place.Result) {
	if of := b[id]; of != nil {
		of.Balance = of.after(id, spot, nil)
	}
	if with != nil {
		b.launch(with.Launches)
	}
}

// launch counts launches.
func (b balances) launch(launches []plan.Launch) {
	for i := range launches {
		if of := b[launches[i].Pool]; of != nil {
			of.Count(launches[i].MayBeSpot(), 1)
		}
	}
}

// lacksOnDemand says why the node may not go with this answer, because its pool would have too few on-demand nodes;
// empty: it may.
func (x *safety) lacksOnDemand(c *candidate, with *place.Result) string {
	return x.onDemand().without(c.Pool, c.IsSpot(), with)
}

// onDemand is the balances after what was decided so far. They are counted once.
func (x *safety) onDemand() balances {
	if !x.counted {
		s := x.snapshot
		if x.simulator != nil {
			s = x.current().Snapshot()
		}
		x.balances, x.counted = balancesOf(s), true
	}
	return x.balances
}

// keepingOnDemand is the answer for the node as it is if its pool keeps its minimum of on-demand nodes, or else one in
// which an instance of the pool takes the place of the node; nil: there is none, and lacks says why, see AtLimit.
func (x *succession) keepingOnDemand(c *candidate, answer *place.Result) (out *place.Result, lacks string) {
	why := x.safety.lacksOnDemand(c, answer)
	if why == "" {
		return answer, ""
	}
	own, lacks := x.successor(c)
	if own == nil && AtLimit(lacks) {
		return nil, lacks + "; " + why
	}
	if own == nil {
		return nil, why + "; " + lacks
	}
	if why = x.safety.lacksOnDemand(c, own); why != "" {
		return nil, why
	}
	return own, ""
}

// servesMinimum reports whether pods of a workload with a minimum run on the node, which is on demand.
func (c *candidate) servesMinimum() bool {
	return !c.IsSpot() && slices.ContainsFunc(c.moving, func(p *cluster.Pod) bool { return p.Shape.OnDemand.Any() })
}

// sparing removes from the list, and returns, the first of its nodes whose pool has enough on-demand nodes without it.
// There is one, unless the list lacks nodes of the pool; else it is the first of all.
func (b balances) sparing(list *[]*candidate) *candidate {
	at := max(0, slices.IndexFunc(*list, func(c *candidate) bool { return b.without(c.Pool, c.IsSpot(), nil) == "" }))
	c := (*list)[at]
	*list = slices.Delete(*list, at, at+1)
	return c
}

// mayWithdraw reports whether the launch may be withdrawn for all that its pool asks for of on-demand nodes, and counts
// that it is.
func (b balances) mayWithdraw(m *cluster.Instance) bool {
	if b.without(m.Pool, m.MayBeSpot(), nil) != "" {
		return false
	}
	b.take(m.Pool, m.MayBeSpot(), nil)
	return true
}
