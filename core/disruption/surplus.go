package disruption

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/coverage"
	"github.com/daemok/daemok/core/plan"
)

// Surplus is what pools have beyond the nodes that they may keep: static ones beyond their replicas, others beyond what
// their hours say.
type Surplus struct {
	Withdrawals []plan.Withdrawal // launches that are too many
	Moves       []plan.Move       // of nodes that are too many, one each
	Kept        []plan.Kept       // nodes that are too many and stay
}

// SurplusOf returns what goes from pools that have more nodes than they may keep, whatever their budgets say: it is
// what their user asks for. Static pools keep all unless static is true. Launches go first, then nodes in the order
// of bySacrifice. An instance that was launched and is no node yet is waited for, so that it goes before nodes with
// pods.
func SurplusOf(s *cluster.Snapshot, static bool) Surplus {
	var out Surplus
	for i := range s.Pools {
		p := &s.Pools[i]
		most, bounded := p.Most()
		if !bounded || p.Static() && !static || p.NotReady == cluster.PoolDeleting {
			continue
		}
		if many := s.Running(p.ID) - most; many > 0 {
			out.remove(s, p, int(many))
		}
	}
	return out
}

func (x *Surplus) remove(s *cluster.Snapshot, p *cluster.Pool, many int) {
	note, balances := fmt.Sprintf("%s, and has %d", p.Keeps(), s.Running(p.ID)), balancesOf(s)
	for i := range s.Instances {
		m := &s.Instances[i]
		if many == 0 {
			return
		}
		if m.Pool != p.ID || m.Deleting {
			continue
		}
		if m.Planned && !m.Launched && !balances.mayWithdraw(m) {
			continue
		}
		if m.Planned && !m.Launched {
			x.Withdrawals = append(x.Withdrawals, plan.Withdrawal{Claim: m.Claim, Pool: p.ID, Note: note})
		}
		many--
	}
	list, bill := bySacrifice(s, p), coverage.BillOf(s)
	for ; many > 0 && len(list) > 0; many-- {
		c := balances.sparing(&list)
		if why := cmp.Or(s.Freeze, c.Rests); why != "" {
			x.Kept = append(x.Kept, plan.Kept{Node: c.Name, Reason: plan.Overprovisioned, By: plan.KeptByRule, Why: why})
			continue
		}
		balances.take(p.ID, c.IsSpot(), nil)
		removal := plan.Removal{Node: c.Name, Claim: c.Claim, Pool: p.ID, Reason: plan.Overprovisioned, Note: note, Pods: c.copies()}
		x.Moves = append(x.Moves, plan.Move{Removals: []plan.Removal{removal}, Saves: saved(bill, c)})
		bill.Carry(coverage.Change{Nodes: []string{c.Name}})
	}
}

// bySacrifice lists the nodes of a pool as they should go where it has too many: those without pods first, then
// those without pods that must not be disturbed, then by the cost of disruption, times how much of its life a node has
// left. Of equal ones a drifted node goes first, which would be replaced right after otherwise, then the youngest.
// Source: behaviour of Karpenter v1, static capacity.
func bySacrifice(s *cluster.Snapshot, p *cluster.Pool) []*candidate {
	var out []*candidate
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if n.Pool != p.ID || n.Claim == "" || n.Deleting {
			continue
		}
		out = append(out, newCandidate(n, i, p))
	}
	type key struct {
		full, kept, current int
		cost                float64
	}
	keys := map[*candidate]key{}
	for _, c := range out {
		k := key{cost: disruptionCost(c) * lifeLeft(s, c)}
		if !IsEmpty(c.Node) {
			k.full = 1
		}
		if c.DoNotDisrupt || slices.ContainsFunc(c.Pods, func(p cluster.Pod) bool { return p.DoNotDisrupt }) {
			k.full, k.kept = 1, 1
		}
		if c.Drifted == "" {
			k.current = 1
		}
		keys[c] = k
	}
	slices.SortStableFunc(out, func(a, b *candidate) int {
		x, y := keys[a], keys[b]
		return cmp.Or(cmp.Compare(x.full, y.full), cmp.Compare(x.kept, y.kept), cmp.Compare(x.cost, y.cost),
			cmp.Compare(x.current, y.current), b.CreatedAt.Compare(a.CreatedAt), cmp.Compare(a.Name, b.Name))
	})
	return out
}

// lifeLeft is which part of its life a node has left, from 0 to 1; 1 where it never expires.
func lifeLeft(s *cluster.Snapshot, c *candidate) float64 {
	life := c.ExpiresAt.Sub(c.CreatedAt)
	if c.ExpiresAt.IsZero() || life <= 0 {
		return 1
	}
	return min(1, max(0, float64(c.ExpiresAt.Sub(s.Now))/float64(life)))
}
