package sim

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/test/sim/promise"
)

// planned looks at a decision by itself: what it was told of forbids nothing
// that it asks for.
func (c *checks) planned(w *World, s *cluster.Snapshot, p *plan.Plan) {
	c.meter.Plans++
	c.snapshot, c.plan = s, p
	if len(p.Launches)+len(p.Moves)+len(p.Withdrawals) > 0 {
		c.activeAt = w.now
		if w.still {
			c.rounds++
		}
	}
	w.sparesDeleted(s, p)
	keepsTo(w, s, p)
	w.kept.quotas.planned(s, p)
	if why := promise.Requests(s, p); why != "" {
		w.broken("request", s, p, "%s", why)
	}
	paidFor(w, s, p)
	shares := disruption.Shares(s.Nodes)
	seen := map[string]bool{}
	for i := range p.Moves {
		for _, r := range p.Moves[i].Removals {
			if seen[r.Node] {
				w.broken("decision", s, p, "%s is disrupted twice", r.Node)
			}
			seen[r.Node] = true
			w.decided(s, p, &p.Moves[i], &r, shares)
		}
	}
}

// paidFor looks at what a plan makes of minimums of on-demand nodes and of commitments.
func paidFor(w *World, s *cluster.Snapshot, p *plan.Plan) {
	if why := promise.OnDemand(s, p); why != "" {
		w.broken("minimum", s, p, "%s", why)
	}
	if why := promise.Pays(s, p); why != "" {
		w.broken("commitment", s, p, "%s", why)
	}
	if why := promise.Unused(s, p); why != "" {
		w.broken("commitment", s, p, "%s", why)
	}
}

// sparesDeleted looks whether nothing is launched from pools that are being deleted,
// and no pod moves to a node of one for the sake of its own.
func (w *World) sparesDeleted(s *cluster.Snapshot, p *plan.Plan) {
	deleted := map[string]bool{}
	for i := range s.Nodes {
		deleted[s.Nodes[i].Name] = s.Nodes[i].Drifted == cluster.PoolDeleted
	}
	launched := slices.Clone(p.Launches)
	for i := range p.Moves {
		m := &p.Moves[i]
		launched = append(launched, m.Launches...)
		for _, to := range m.Placements {
			if to.On == plan.OnNode && deleted[to.Target] {
				w.broken("decision", s, p, "%s moves from %s to %s, whose pool is being deleted", to.Pod.Name, m.Removals[0].Node, to.Target)
			}
		}
	}
	for i := range launched {
		if pool, found := s.Pool(launched[i].Pool); !found || pool.NotReady != "" {
			w.broken("decision", s, p, "%s is launched from %s, which may launch nothing", launched[i].Name, launched[i].Pool)
		}
	}
}

// decided looks at one node that is to go.
func (w *World) decided(s *cluster.Snapshot, p *plan.Plan, m *plan.Move, r *plan.Removal, shares map[cluster.PoolID]disruption.Share) {
	at := slices.IndexFunc(s.Nodes, func(n cluster.Node) bool { return n.Name == r.Node })
	pool, found := s.Pool(r.Pool)
	if at < 0 || !found {
		w.broken("decision", s, p, "%s of %s does not exist", r.Node, r.Pool)
		return
	}
	n := &s.Nodes[at]
	share := shares[r.Pool]
	if n.Ready {
		share.Used++
	}
	shares[r.Pool] = share
	if pool.Static() && disruption.SavesMoney(r.Reason) {
		w.broken("decision", s, p, "%s of %s, which is static, is disrupted for %s", r.Node, r.Pool, r.Reason)
	}
	if n.Deleting || !n.Initialized && r.Reason != plan.Overprovisioned {
		w.broken("decision", s, p, "%s is being deleted or has not joined", r.Node)
	}
	if r.Reason == plan.Expired || r.Reason == plan.Overprovisioned && s.Freeze == "" {
		return
	}
	allowed := disruption.Allowance(&pool.Policy, r.Reason)
	switch {
	case share.Used > allowed.Most:
		w.broken("decision", s, p, "%d nodes of %s would be disrupted or not ready, and the budget is %d", share.Used, r.Pool, allowed.Most)
	case s.Freeze != "":
		w.broken("decision", s, p, "%s is disrupted while disruption is frozen", r.Node)
	case n.DoNotDisrupt:
		w.broken("decision", s, p, "%s has do-not-disrupt", r.Node)
	case r.Reason == plan.Underutilized && m.Saves <= 0:
		w.broken("decision", s, p, "%s is consolidated, and nothing is saved", r.Node)
	}
	if r.Reason == plan.Drifted && n.HasGrace {
		return
	}
	for i := range n.Pods {
		w.disturbs(s, p, &n.Pods[i], r)
	}
}

// disturbs looks at one pod of a node that is to go.
func (w *World) disturbs(s *cluster.Snapshot, p *plan.Plan, pod *cluster.Pod, r *plan.Removal) {
	if pod.Ending || pod.Daemon {
		return
	}
	if pod.DoNotDisrupt {
		w.broken("decision", s, p, "%s has do-not-disrupt and its node %s is disrupted", pod.Name, r.Node)
	}
	if pod.OneOff != "" && disruption.SavesMoney(r.Reason) {
		w.broken("decision", s, p, "%s has no controller and its node %s is consolidated", pod.Name, r.Node)
	}
	for _, g := range s.PDBs {
		if g.Name == pod.PDBs && g.Allowed == 0 && !pod.Pending && !(g.UnreadyToo && pod.Unready) {
			w.broken("decision", s, p, "the PodDisruptionBudget of %s allows no eviction and its node %s is disrupted", pod.Name, r.Node)
		}
	}
}

// keepsTo looks whether a plan launches more nodes for a pool than it may keep.
func keepsTo(w *World, s *cluster.Snapshot, p *plan.Plan) {
	for i := range s.Pools {
		pool := &s.Pools[i]
		most, bounded := pool.Most()
		if !bounded {
			continue
		}
		launched := int64(0)
		for j := range p.Launches {
			if p.Launches[j].Pool == pool.ID {
				launched++
			}
		}
		if n := s.Running(pool.ID) + launched; launched > 0 && n > most {
			w.broken("decision", s, p, "%s, and the plan makes them %d", pool.Keeps(), n)
		}
	}
}
