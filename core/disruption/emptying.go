package disruption

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/coverage"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// emptyingKept is by what share a node that is to empty may have more pods for its price than others and stays so, lest
// taints come and go.
const emptyingKept = 0.1

// Emptying lists nodes that are to empty without evictions: those of each pool with the fewest pods for their price,
// as many as the pool's other nodes have cpu and memory for. Pods of Jobs do not count among them: they end by
// themselves, and new ones come to other nodes. The first ones first. They go once they are empty, or when
// consolidation moves what is left: an empty node that was among them stays so until it goes. Nodes that are
// taken, by name, which go anyway or which pods need, are not among them.
//
// Cost: a check of each pod of these pools. Source: daemok simulate with half a day of services-b, where it takes a
// quarter of the evictions and 1 to 2 % of the cost away.
func Emptying(s *cluster.Snapshot, taken map[string]bool) []plan.Emptying {
	if s.Freeze != "" {
		return nil
	}
	by, bill := map[cluster.PoolID][]*leaving{}, coverage.BillOf(s)
	for _, c := range candidates(s) {
		if c.Ready && !taken[c.Name] {
			by[c.Pool] = append(by[c.Pool], newLeaving(s, c, saved(bill, c)))
		}
	}
	var out []plan.Emptying
	for i := range s.Pools {
		out = append(out, emptyingOf(by[s.Pools[i].ID])...)
	}
	return out
}

// leaving is a node with what of it is free, and what its pods take.
type leaving struct {
	*candidate
	free, used quantity.Resources
	pods       int     // that use it
	perDollar  float64 // pods that stay until they are moved or scaled down
	may        bool
}

func newLeaving(s *cluster.Snapshot, c *candidate, cost quantity.MicroUSDPerHour) *leaving {
	out := &leaving{candidate: c, free: feasibility.Free(c.Node, s.Daemons).ClampNegative(), may: c.mayEmpty()}
	stay := 0
	for i := range c.Pods {
		p := &c.Pods[i]
		if p.Moves() || p.Completes && holds(p) {
			out.used, out.pods = out.used.Add(p.Takes()), out.pods+1
		}
		if p.Moves() && !p.Completes {
			stay++
		}
	}
	if cost > 0 {
		out.perDollar = float64(stay) / float64(cost) * 1e6
	}
	if c.Emptying() {
		out.perDollar *= 1 - emptyingKept
	}
	return out
}

// mayEmpty reports whether its pool lets the node go to save money once it is empty, and nothing on it keeps it for
// longer than its ReplicaSets and Jobs want.
func (c *candidate) mayEmpty() bool {
	policy := &c.pool.Policy
	if policy.Never || c.pool.Static() || c.DoNotDisrupt || c.DoNotConsolidate || c.Price == 0 || c.Controller != cluster.NoReplica || len(c.LaunchedFor) > 0 {
		return false
	}
	if IsEmpty(c.Node) && !c.Emptying() {
		return false
	}
	if !c.IsSpot() && (c.pool.OnDemand.Any() || c.servesMinimum()) { // it may have to stay, empty or not
		return false
	}
	return !slices.ContainsFunc(c.Pods, func(p cluster.Pod) bool {
		return p.Shape.Virtual || holds(&p) && !p.Completes && (p.DoNotDisrupt || p.OneOff != "")
	})
}

// stays reports whether the node does not go for being empty, so that what is free on it counts.
func (n *leaving) stays() bool { return !IsEmpty(n.Node) }

func (n *leaving) why() string {
	if !n.stays() {
		return "it has no pods any more, and goes soon"
	}
	return fmt.Sprintf("other nodes of %s have room for its %s", n.Pool, counted(n.pods))
}

// emptyingOf chooses among the nodes of one pool.
func emptyingOf(nodes []*leaving) (out []plan.Emptying) {
	var rest, need quantity.Resources
	stay := 0
	for _, n := range nodes {
		if n.stays() {
			rest, stay = rest.Add(n.free), stay+1
		}
	}
	nodes = slices.DeleteFunc(nodes, func(n *leaving) bool { return !n.may })
	slices.SortStableFunc(nodes, func(a, b *leaving) int {
		return cmp.Or(cmp.Compare(a.perDollar, b.perDollar), cmp.Compare(a.Name, b.Name))
	})
	for _, n := range nodes {
		if n.stays() {
			rest, need, stay = rest.Sub(n.free), need.Add(n.used), stay-1
		}
		if stay == 0 || !need.FitsIn(rest) {
			break
		}
		out = append(out, plan.Emptying{Node: n.Name, Claim: n.Claim, Pool: n.Pool,
			Note: n.why()})
	}
	return out
}
