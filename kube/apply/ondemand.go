package apply

import (
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api/mark"
)

// lacksOnDemand says why the node may not go since the pool would be shorter of on-demand nodes, by the minimum
// that it has now, once all nodes of the move are gone and the instances in their place have come; empty: it may.
// So may one that its user lets go before those come.
func (p *livePool) lacksOnDemand(r *request) string {
	least, err := mark.OnDemandMinimum(p.object.Annotations)
	first, _ := mark.DeleteFirst(p.object.Annotations)
	switch {
	case err != nil:
		return err.Error()
	case !least.Any(), p.object.NotReady == cluster.PoolDeleting:
		return ""
	case first && r.Reason == plan.Drifted && !r.unit.replaces():
		return ""
	}
	before, after := p.balances(r.unit)
	if !least.Lowers(before, after) {
		return ""
	}
	return fmt.Sprintf("%s of %s of %s: without node %s %d of %d nodes are on demand", cluster.LimitOnDemand, least,
		r.Pool, r.Node, after.OnDemand, after.OnDemand+after.Spot)
}

// balances counts the nodes of the pool that stay, before the move and after it. Unlike in plans, a NodeClaim
// counts once its instance is launched: until then that may turn out to be unavailable, and the next plan asks
// again.
func (p *livePool) balances(u *unit) (before, after cluster.Balance) {
	for i := range p.nodes {
		n := &p.nodes[i]
		leaves := slices.ContainsFunc(u.Removals, func(r plan.Removal) bool { return r.Claim == n.Claim })
		switch comes := slices.Contains(u.claims, n.Claim); {
		case leaves:
			before.Count(n.IsSpot(), 1)
		case comes:
			after.Count(n.IsSpot(), 1)
		case !n.Deleting:
			before.Count(n.IsSpot(), 1)
			after.Count(n.IsSpot(), 1)
		}
	}
	for i := range u.Launches {
		if l := &u.Launches[i]; !u.ordered && l.Pool == p.object.ID {
			after.Count(l.MayBeSpot(), 1)
		}
	}
	return before, after
}
