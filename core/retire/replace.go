package retire

import (
	"fmt"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// What cheaper instances in place of a node must save, as a share of what it costs. Room beside a node's pods is no waste
// where pods come: they find a place at once, on a node that costs less for each pod than one that is bought for them
// alone. Source: daemok simulate; half a day of services-b costs 0.6 % more with 0.6 and 0.9 % more with 0.85 (seed 1), and a
// recorded day of openb 1 % more where a pod counts for an hour instead of a day, with twice the evictions (seeds 0 to 2).
const (
	roomShare  = 0.7            // where room is given up and pods come
	leastShare = 0.15           // otherwise
	comeFor    = 24 * time.Hour // how long a pod that came says that pods come
)

// replacement asks for cheaper instances in place of the node; why says why there are none. They may save less than the
// share if another pool undersells the node and they have no less cpu and memory.
func (x *consolidator) replacement(c *candidate, q place.Question) (a *place.Result, why string) {
	if !x.replaceable(c) {
		return nil, noSpotForSpot
	}
	share, because := x.share(c)
	least := share
	if share == roomShare && slices.ContainsFunc(x.snapshot.Pools, func(p cluster.Pool) bool { return undersells(&p, c) }) {
		least = leastShare
	}
	cost := nodeCost(c)
	q.Below = cost - max(1, quantity.MicroUSDPerHour(float64(cost)*least))
	if x.current().Hopeless(c.at, q.Below) {
		return nil, tooDear(share, because)
	}
	if a = x.ask(q); no(a) || float64(savings(c, a)) < float64(share*float64(cost)) && x.lessRoom(c, a) {
		return nil, tooDear(share, because)
	}
	return a, ""
}

func tooDear(share float64, because string) string {
	if share == 0 {
		return "no instances for its pods are cheaper"
	}
	return fmt.Sprintf("no instances for its pods save %.0f %% of its price%s", 100*share, because)
}

// share is which part of what the node costs instances in its place must save, and why, a clause. What its user asks for
// counts alone.
func (x *Search) share(c *candidate) (share float64, because string) {
	p := x.payback(c)
	switch {
	case p.Off:
		return 0, ""
	case p.LeastShare > 0:
		return p.LeastShare, ", which its user asks for"
	case c.dear || !x.podsCome(c.Pool):
		return leastShare, ""
	}
	return roomShare, ", as instances with less room must while pods come (one came within the last day)"
}

// lessRoom reports whether instances in place of the node have less cpu or memory than it.
func (x *Search) lessRoom(c *candidate, a *place.Result) bool {
	var has quantity.Resources
	for i := range a.Launches {
		l := &a.Launches[i]
		if pool, found := x.snapshot.Pool(l.Pool); found {
			if kind := pool.Catalogue.Kind(l.Choice.Kind); kind != nil {
				has = has.Add(kind.Allocatable)
			}
		}
	}
	return has.CPU < c.Allocatable.CPU || has.Memory < c.Allocatable.Memory
}

// dear reports whether its own pool undersells the node.
func (x *Search) dear(c *candidate) bool { return x.replaceable(c) && undersells(c.pool, c) }

// undersells reports whether the pool may launch an instance now that has no less cpu and memory than the node, and costs
// so much less that the node is to be replaced.
func undersells(pool *cluster.Pool, c *candidate) bool {
	if pool.Catalogue == nil || pool.NotReady != "" {
		return false
	}
	most := quantity.MicroUSDPerHour(float64(c.Price) * (1 - leastShare))
	for i := range pool.Catalogue.Kinds {
		k := &pool.Catalogue.Kinds[i]
		if k.Allocatable.CPU >= c.Allocatable.CPU && k.Allocatable.Memory >= c.Allocatable.Memory && sold(pool, k, most) {
			return true
		}
	}
	return false
}

// sold reports whether the pool can have the kind for so much now. What is reserved is paid for already, and had so few
// times that it counts for nothing here.
func sold(pool *cluster.Pool, kind *cluster.Kind, most quantity.MicroUSDPerHour) bool {
	offered := slices.ContainsFunc(kind.Offers, func(o cluster.Offer) bool {
		return o.Priced && o.Price <= most && o.Available && o.Option != cluster.Reserved && allows(pool.Requirements, o.Labels) && o.Asked(pool.Requirements)
	})
	return offered && allows(pool.Requirements, kind.Labels) && allows(pool.Floor.Size, kind.Labels)
}

func allows(r constraint.Requirements, labels constraint.Labels) bool {
	return !slices.ContainsFunc(labels, func(l constraint.Label) bool { return !r.Get(l.Key).Allows(l.Value) })
}

// podsCome reports whether a pod started on nodes of the pool within that time, other than by a move.
func (x *Search) podsCome(pool cluster.PoolID) bool {
	if x.came == nil {
		x.came = map[cluster.PoolID]bool{}
		for i := range x.snapshot.Nodes {
			n := &x.snapshot.Nodes[i]
			x.came[n.Pool] = x.came[n.Pool] || slices.ContainsFunc(n.Pods, func(p cluster.Pod) bool {
				return p.Moves() && p.Moved == 0 && x.snapshot.Now.Sub(p.StartedAt) < comeFor
			})
		}
	}
	return x.came[pool]
}

// replaceable reports whether instances that are paid for by the hour may be bought in place of the node, or what is
// reserved.
func (x *Search) replaceable(c *candidate) bool {
	return c.option() != cluster.Spot || x.options.SpotToSpot || x.hasReserved()
}

// noSpotForSpot is why a spot instance stays for which another could be bought.
const noSpotForSpot = "spot instances may not replace spot instances"

// spotForSpot says why the instances of an answer may not be bought: what is reserved, and paid for already, takes the
// place of any.
func (x *Search) spotForSpot(c *candidate, a *place.Result) string {
	paidFor := !slices.ContainsFunc(a.Launches, func(l plan.Launch) bool { return l.Choice.Option != cluster.Reserved })
	if paidFor || c.option() != cluster.Spot || x.options.SpotToSpot {
		return ""
	}
	return noSpotForSpot
}

// hasReserved reports whether a pool can have an instance that is reserved.
func (x *Search) hasReserved() bool {
	if x.reserved == nil {
		x.reserved = new(slices.ContainsFunc(x.snapshot.Pools, sellsReserved))
	}
	return *x.reserved
}

func sellsReserved(p cluster.Pool) bool {
	return p.Catalogue != nil && p.NotReady == "" && slices.ContainsFunc(p.Catalogue.Kinds, func(k cluster.Kind) bool {
		return slices.ContainsFunc(k.Offers, func(o cluster.Offer) bool { return o.Option == cluster.Reserved && o.Available })
	})
}

func (c *candidate) option() cluster.Option {
	option, _ := c.Labels.Get(cluster.LabelCapacityType)
	return cluster.Option(option)
}
