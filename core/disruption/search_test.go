package disruption_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/removal"
)

// On random clusters: no node goes that must not, budgets hold, every pod that must leave has a
// place on a node that stays or on an instance that is launched for it, nodes hold what goes there,
// what is done to save money saves it, and of every node that is due it is said why it stays.
func TestNothingForbiddenIsDone(t *testing.T) {
	moved, kept := 0, 0
	for seed := range uint64(400) {
		s := town(rand.New(rand.NewPCG(seed, 5)))
		search := disruption.New(s, nil, removal.New(s, removal.Taken{}, place.Options{}), disruption.Options{SpotToSpot: seed%2 == 0})
		search.Finish()
		for _, wrong := range wrongs(s, search) {
			t.Errorf("seed %d: %s\n%s", seed, wrong, printed(search))
		}
		moved, kept = moved+len(search.Moves), kept+len(search.Kept)
		again := disruption.New(s, nil, removal.New(s, removal.Taken{}, place.Options{}), disruption.Options{SpotToSpot: seed%2 == 0})
		again.Finish()
		if a, b := printed(search), printed(again); a != b {
			t.Errorf("seed %d: looked at twice it differs:\n%s\n%s", seed, a, b)
		}
	}
	if moved < 100 || kept < 100 {
		t.Errorf("%d moves and %d nodes kept: the clusters show nothing", moved, kept)
	}
}

func printed(x *disruption.Search) string { return plan.Plan{Moves: x.Moves, Kept: x.Kept}.String() }

func wrongs(s *cluster.Snapshot, x *disruption.Search) (out []string) {
	say := func(format string, args ...any) { out = append(out, fmt.Sprintf(format, args...)) }
	node := map[string]*cluster.Node{}
	free := map[string]quantity.Resources{}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		node[n.Name] = n
		free[n.Name] = n.Allocatable
		for j := range n.Pods {
			free[n.Name] = free[n.Name].Sub(n.Pods[j].Shape.Requests)
		}
	}
	leaves, going := map[string]plan.RemovalReason{}, map[cluster.PoolID]int64{}
	for id, share := range disruption.Shares(s.Nodes) {
		going[id] = share.Used
	}
	for _, m := range x.Moves {
		for _, r := range m.Removals {
			n := node[r.Node]
			pool, _ := s.Pool(r.Pool)
			if leaves[r.Node] != "" {
				say("node %s goes twice", r.Node)
			}
			leaves[r.Node] = r.Reason
			if n.Ready {
				going[r.Pool]++
			}
			most := map[plan.RemovalReason]int64{plan.Empty: pool.Policy.Empty.Most, plan.Drifted: pool.Policy.Drifted.Most, plan.Underutilized: pool.Policy.Underutilized.Most}
			if limit, has := most[r.Reason]; has && going[r.Pool] > limit {
				say("%d nodes of %s go for being %s, and %d may", going[r.Pool], r.Pool, r.Reason, limit)
			}
			if n.Deleting || !n.Initialized || n.DoNotDisrupt && r.Reason != plan.Expired {
				say("node %s must not go: %+v", r.Node, n)
			}
			if r.Reason == plan.Underutilized && (m.Saves <= 0 || pool.Policy.Never || pool.Static() || pool.Policy.Consolidate == cluster.WhenEmpty) {
				say("node %s goes to save money: %s, %+v", r.Node, m.Saves, pool.Policy)
			}
			for j := range n.Pods {
				if p := &n.Pods[j]; p.DoNotDisrupt && r.Reason != plan.Expired && !(r.Reason == plan.Drifted && n.HasGrace) {
					say("pod %s keeps node %s", p.Name, r.Node)
				}
			}
		}
	}
	for _, m := range x.Moves {
		out = append(out, misplaced(m, leaves, free)...)
	}
	for _, k := range x.Kept {
		if leaves[k.Node] != "" || k.Why == "" {
			say("node %s is said to stay: %s", k.Node, k)
		}
	}
	for name, left := range free {
		if left.CPU < 0 || left.Memory < 0 || left.Pods < 0 {
			say("node %s has %s left", name, left)
		}
	}
	return out
}

func misplaced(m plan.Move, leaves map[string]plan.RemovalReason, free map[string]quantity.Resources) (out []string) {
	placed := map[string]bool{}
	launches := map[string]*plan.Launch{}
	for i := range m.Launches {
		launches[m.Launches[i].Name] = &m.Launches[i]
	}
	for _, p := range m.Placements {
		placed[p.Pod.Name] = true
		switch p.On {
		case plan.OnNode:
			if reason, goes := leaves[p.Target]; goes && reason != plan.Expired { // that is stopped by nothing
				out = append(out, fmt.Sprintf("pod %s goes to %s, which goes itself", p.Pod.Name, p.Target))
			}
			free[p.Target] = free[p.Target].Sub(p.Pod.Shape.Requests)
		case plan.OnLaunch:
			if launches[p.Target] == nil {
				out = append(out, fmt.Sprintf("pod %s goes to %s, which is not ordered", p.Pod.Name, p.Target))
			}
		}
	}
	for _, r := range m.Removals {
		for i := range r.Pods {
			if !placed[r.Pods[i].Name] && r.Reason != plan.Expired {
				out = append(out, fmt.Sprintf("pod %s has no place", r.Pods[i].Name))
			}
		}
	}
	return out
}

// town is a small cluster that has grown without plan.
func town(r *rand.Rand) *cluster.Snapshot {
	now := time.Date(2026, 11, 21, 4, 0, 0, 0, time.UTC)
	s := &cluster.Snapshot{Revision: 1, Now: now}
	catalogue := &cluster.Catalogue{Revision: 1}
	for i := range 20 {
		size := int64(1 + i%5)
		has := quantity.Resources{CPU: quantity.MilliCPU(2000 * size), Memory: quantity.Bytes(4*size) * quantity.GiB, Pods: 20}
		k := cluster.InstanceType{Name: fmt.Sprintf("k%d", i), Capacity: has, Allocatable: has, Labels: constraint.NewLabels(map[string]string{cluster.LabelInstanceType: fmt.Sprintf("k%d", i)})}
		for _, zone := range []string{"a", "b"} {
			for _, option := range []cluster.Option{cluster.OnDemand, cluster.Spot} {
				price := quantity.MicroUSDPerHour(size * (60_000 + r.Int64N(60_000)))
				if option == cluster.Spot {
					price /= 3
				}
				k.Offerings = append(k.Offerings, cluster.Offering{Zone: zone, Option: option, Price: price, Priced: true, Available: r.IntN(5) > 0,
					Labels: constraint.NewLabels(map[string]string{cluster.LabelZone: zone, cluster.LabelCapacityType: string(option)})})
			}
		}
		catalogue.InstanceTypes = append(catalogue.InstanceTypes, k)
	}
	slices.SortFunc(catalogue.InstanceTypes, func(a, b cluster.InstanceType) int { return slices.Compare([]byte(a.Name), []byte(b.Name)) })
	allow := func() cluster.Allowance { return cluster.Allowance{Most: r.Int64N(6), Note: "so many"} }
	for i := range 1 + r.IntN(2) {
		options := [][]string{{"on-demand"}, {"spot"}, {"on-demand", "spot"}}[r.IntN(3)]
		s.Pools = append(s.Pools, cluster.Pool{ID: cluster.PoolID{Kind: "NodePool", Name: fmt.Sprintf("p%d", i)}, Catalogue: catalogue,
			Requirements: constraint.NewRequirements(constraint.Requirement{Key: cluster.LabelCapacityType, Set: constraint.Values(options...)}),
			Policy: cluster.Policy{Consolidate: []cluster.Consolidation{"", "", cluster.WhenEmpty, cluster.Balanced}[r.IntN(4)], After: time.Duration(r.IntN(60)) * time.Minute,
				Never: r.IntN(10) == 0, Empty: allow(), Drifted: allow(), Underutilized: allow()}})
	}
	s.PDBs = []cluster.PodDisruptionBudget{{Namespace: "default", Name: "g", Allowed: r.Int64N(2)}}
	for i := range 2 + r.IntN(8) {
		s.Nodes = append(s.Nodes, house(r, s, catalogue, fmt.Sprintf("n%d", i)))
	}
	s.Sort()
	return s
}

func house(r *rand.Rand, s *cluster.Snapshot, c *cluster.Catalogue, name string) cluster.Node {
	pool := &s.Pools[r.IntN(len(s.Pools))]
	instanceType := &c.InstanceTypes[r.IntN(len(c.InstanceTypes))]
	offering := &instanceType.Offerings[r.IntN(len(instanceType.Offerings))]
	born := s.Now.Add(-time.Duration(1+r.IntN(100)) * time.Hour)
	n := cluster.Node{Name: name, Claim: name + "-c", Pool: pool.ID, Allocatable: instanceType.Allocatable, Capacity: instanceType.Capacity, Price: offering.Price,
		Labels: constraint.NewLabels(map[string]string{cluster.LabelHostname: name, cluster.LabelInstanceType: instanceType.Name, cluster.LabelZone: offering.Zone,
			cluster.LabelCapacityType: string(offering.Option)}),
		CreatedAt: born, QuietSince: s.Now.Add(-time.Duration(r.IntN(90)) * time.Minute), Ready: r.IntN(12) > 0, Initialized: r.IntN(12) > 0,
		Deleting: r.IntN(15) == 0, DoNotDisrupt: r.IntN(15) == 0, HasGrace: r.IntN(3) == 0}
	if r.IntN(4) == 0 {
		n.Drifted, n.DriftedAt = "AMIDrift", s.Now.Add(-time.Hour)
	}
	if r.IntN(6) == 0 {
		n.ExpiresAt = s.Now.Add(time.Duration(r.IntN(180)-60) * time.Minute)
	}
	free := n.Allocatable
	for i := range r.IntN(8) {
		shape := &cluster.Shape{Namespace: "default", Requests: quantity.Resources{CPU: quantity.MilliCPU(250 * (1 + r.Int64N(8))), Memory: quantity.Bytes(1+r.Int64N(4)) * quantity.GiB / 2, Pods: 1}}
		if !shape.Requests.FitsIn(free) {
			break
		}
		free = free.Sub(shape.Requests)
		p := cluster.Pod{Namespace: "default", Name: fmt.Sprintf("%s-%d", name, i), Shape: shape, Node: name, Returns: true, StartedAt: born, Protection: cluster.Protection{DoNotDisrupt: r.IntN(25) == 0}, Unready: r.IntN(9) == 0}
		if r.IntN(6) == 0 {
			p.PDBs = "g"
		}
		n.Pods = append(n.Pods, p)
	}
	return n
}
