package retire

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// outlook tells how long pods, and what they run on, are likely to be there, as far
// ahead as a move may pay back. A pod is taken to run for as long again as it has:
// most pods that have just come are soon gone, and those that have run for
// days stay for days. A machine is needed until the last of its pods is gone.
// Source: the median of what is left of lives that are distributed as those of jobs
// in clusters are, by a power law with an exponent near 1 (Harchol-Balter and
// Downey, "Exploiting process lifetime distributions for dynamic load balancing",
// 1997).
type outlook struct {
	now   time.Time
	ahead time.Duration
}

// outlook is how far ahead a move of the nodes may pay back: none of them is
// likely to live longer if it is left alone.
func (x *Search) outlook(nodes []*candidate) outlook {
	p := x.payback(nodes)
	out := outlook{x.snapshot.Now, p.Horizon}
	for _, c := range nodes {
		out.ahead = min(out.ahead, x.remaining(c, p))
	}
	return out
}

// of is how long the pod is likely to stay. Where it came in place of evicted ones
// it has run since the first of these was started.
func (o outlook) of(p *cluster.Pod) time.Duration {
	for _, since := range []time.Time{p.Since, p.StartedAt, p.CreatedAt} {
		if !since.IsZero() {
			return max(0, min(o.ahead, o.now.Sub(since)))
		}
	}
	return o.ahead
}

// until is how long the last of the pods is likely to stay, of those that keep a
// node.
func (o outlook) until(pods iter.Seq[*cluster.Pod]) (out time.Duration) {
	for p := range pods {
		if holds(p) {
			out = max(out, o.of(p))
		}
	}
	return out
}

// each goes through pods without copying them.
func each(pods []cluster.Pod) iter.Seq[*cluster.Pod] {
	return func(yield func(*cluster.Pod) bool) {
		for i := range pods {
			if !yield(&pods[i]) {
				return
			}
		}
	}
}

// spent is what the nodes are likely to cost in dollars if they are left alone,
// which is the most that can be saved.
func (o outlook) spent(nodes []*candidate) (dollars float64) {
	for _, c := range nodes {
		dollars += dollarsFor(nodeCost(c), o.until(slices.Values(c.moving)))
	}
	return dollars
}

// saved is what a move is likely to save in dollars: what its nodes cost until
// their last pods are gone, less what machines in their place do, and nodes that
// pods move to as far as these keep them for longer.
func (x *Search) saved(nodes []*candidate, a *place.Result) (dollars float64) {
	o := x.outlook(nodes)
	dollars = o.spent(nodes)
	for i := range a.Launches {
		dollars -= dollarsFor(a.Launches[i].Choice.Cost(), o.until(each(a.Launches[i].Pods)))
	}
	guests := map[string]time.Duration{}
	for i := range a.Placements {
		if p := &a.Placements[i]; p.On == plan.OnNode {
			guests[p.Target] = max(guests[p.Target], o.of(&p.Pod))
		}
	}
	for _, name := range slices.Sorted(maps.Keys(guests)) {
		at, _ := slices.BinarySearchFunc(x.snapshot.Nodes, name, func(n cluster.Node, name string) int { return cmp.Compare(n.Name, name) })
		n := &x.snapshot.Nodes[at]
		pool, ours := x.snapshot.Pool(n.Pool)
		if longer := guests[name] - o.until(each(n.Pods)); ours && longer > 0 {
			dollars -= dollarsFor(pool.CostOf(n), longer)
		}
	}
	return dollars
}

// dollarsFor is what something with a price costs over a time.
func dollarsFor(price quantity.MicroUSDPerHour, long time.Duration) float64 {
	return float64(float64(price) / 1e6 * long.Hours())
}
