package decide_test

import (
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/scenario"
	"github.com/daemok/daemok/internal/chance"
)

// TestNoPlanBreaksAMinimumOfOnDemandNodes makes worlds by chance in which pools ask for on-demand nodes, some of which
// have too few of them. A plan that launches a spot instance leaves its pool with enough, and no plan leaves a pool
// with fewer than it should have and had.
func TestNoPlanBreaksAMinimumOfOnDemandNodes(t *testing.T) {
	effort := decide.Effort{Place: 1_000_000, Pack: 20_000, Disruption: decide.DisruptionQuestions}
	spot, onDemand, kept := 0, 0, 0
	for seed := range uint64(1000) {
		r := rand.New(rand.NewPCG(seed, 23))
		s := chance.Crowded(r)
		if seed%3 > 0 {
			s = chance.Inhabited(r)
		}
		addMinimums(s, r)
		p := decide.Decide(s, decide.Policy{Disruption: disruption.Options{SpotToSpot: true}}, effort)
		for i := range s.Pools {
			pool := &s.Pools[i]
			before, launched := s.Balance(pool.ID), launchedBy(&p, pool.ID)
			after := balanceAfter(s, &p, pool.ID)
			short := pool.OnDemand.Short(after)
			if launched.Spot > 0 && short > 0 || short > pool.OnDemand.Short(before) {
				t.Fatalf("seed %d: %s of %s: %+v -> %+v\n%s\n%s",
					seed, pool.OnDemand, pool.ID, before, after, scenario.Print(s), p)
			}
			if pool.OnDemand.Any() {
				spot, onDemand = spot+int(launched.Spot), onDemand+int(launched.OnDemand)
			}
		}
		if why := broken(s, &p); why != "" && !removesInAnyEvent(s) {
			t.Fatalf("seed %d: %s\n%s\n%s", seed, why, scenario.Print(s), p)
		}
		for _, k := range p.Kept {
			if strings.HasPrefix(k.Why, cluster.LimitOnDemand) {
				kept++
			}
		}
	}
	if spot < 200 || onDemand < 200 || kept < 20 {
		t.Errorf("%d spot instances and %d others were launched, and %d nodes stay: minimums have little to say",
			spot, onDemand, kept)
	}
}

// addMinimums gives pools a minimum, and makes some of them static.
func addMinimums(s *cluster.Snapshot, r *rand.Rand) {
	for i := range s.Pools {
		p := &s.Pools[i]
		switch r.IntN(4) {
		case 0:
			p.OnDemand = cluster.Minimum{Least: 1 + r.Int64N(3)}
		case 1, 2:
			p.OnDemand = cluster.Minimum{Least: 1 + r.Int64N(100), Percent: true}
		}
		three := cluster.Allowance{Most: 3}
		p.Policy.Empty, p.Policy.Drifted, p.Policy.Underutilized, p.Policy.Never = three, three, three, false
		switch n := r.Int64N(8); r.IntN(12) {
		case 0:
			p.Replicas = &n
		case 1:
			p.Hours.Nodes, p.Limits.Nodes = &n, &n
		}
	}
	old := r.IntN(4) == 0
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if r.IntN(3) == 0 {
			n.Labels = n.Labels.With(cluster.LabelCapacityType, "spot")
		}
		n.QuietSince = s.Now.Add(-time.Hour)
		if old && r.IntN(3) == 0 {
			n.ExpiresAt = s.Now.Add(time.Minute)
		}
		if n.Drifted == "" && r.IntN(6) == 0 {
			n.Drifted, n.DriftedAt = "AMIDrift", s.Now
		}
	}
	for i := range s.Instances {
		m := &s.Instances[i]
		m.Planned = r.IntN(2) == 0
		if r.IntN(2) == 0 {
			onDemand := constraint.Requirement{Key: cluster.LabelCapacityType, Set: constraint.Values("on-demand")}
			m.Requirements = m.Requirements.And(onDemand)
		}
	}
}

// removesInAnyEvent reports whether nodes go whatever budgets say: from pools that have too many, or for their age.
func removesInAnyEvent(s *cluster.Snapshot) bool {
	return slices.ContainsFunc(s.Pools, func(p cluster.Pool) bool { _, bounded := p.Most(); return bounded }) ||
		slices.ContainsFunc(s.Nodes, func(n cluster.Node) bool { return !n.ExpiresAt.IsZero() })
}

func launchedBy(p *plan.Plan, id cluster.PoolID) (out cluster.Balance) {
	count := func(launches []plan.Launch) {
		for i := range launches {
			if l := &launches[i]; l.Pool == id {
				out.Count(l.MayBeSpot(), 1)
			}
		}
	}
	count(p.Launches)
	for i := range p.Moves {
		count(p.Moves[i].Launches)
	}
	return out
}

func balanceAfter(s *cluster.Snapshot, p *plan.Plan, id cluster.PoolID) cluster.Balance {
	gone := map[string]bool{}
	for _, r := range p.Removals() {
		gone[r.Claim] = true
	}
	for _, w := range p.Withdrawals {
		gone[w.Claim] = true
	}
	after := *s
	after.Nodes, after.Instances = nil, nil
	for _, n := range s.Nodes {
		if !gone[n.Claim] {
			after.Nodes = append(after.Nodes, n)
		}
	}
	for _, m := range s.Instances {
		if !gone[m.Claim] {
			after.Instances = append(after.Instances, m)
		}
	}
	out, launched := after.Balance(id), launchedBy(p, id)
	return cluster.Balance{OnDemand: out.OnDemand + launched.OnDemand, Spot: out.Spot + launched.Spot}
}
