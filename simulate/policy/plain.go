package policy

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/bench"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/removal"
)

// untouched decides as the controller does, but only empty nodes go.
func untouched(s *cluster.Snapshot) plan.Plan {
	effort := decide.Usual(s)
	effort.Disruption = 0
	out := decide.Decide(s, decide.Policy{}, effort)
	out.Emptying = nil
	return out
}

// plainly returns a decider that saves money by two rules: a node goes if its pods fit on
// the others, else if a cheaper instance holds them all. Nodes with few pods are asked
// about first, and one goes at a time. Instances for pods that wait are chosen as the
// controller does it.
func plainly() func(*cluster.Snapshot) plan.Plan {
	vain := uint64(0) // revision at which nothing was found
	return func(s *cluster.Snapshot) plan.Plan {
		out := untouched(s)
		if len(s.Waiting)+len(out.Moves) > 0 || s.Revision == vain {
			return out
		}
		if m, ok := plainMove(s); ok {
			out.Moves = append(out.Moves, m)
		} else {
			vain = s.Revision
		}
		return out
	}
}

func plainMove(s *cluster.Snapshot) (plan.Move, bool) {
	shares, pdbs := disruption.Shares(s.Nodes), disruption.PDBsOf(s.PDBs)
	var nodes []*cluster.Node
	for i := range s.Nodes {
		n := &s.Nodes[i]
		pool, found := s.Pool(n.Pool)
		if found && n.Initialized && n.Ready && !n.Deleting && !n.DoNotDisrupt && len(n.Pods) > 0 && len(n.LaunchedFor) == 0 &&
			shares[n.Pool].Used < pool.Policy.Underutilized.Most &&
			!slices.ContainsFunc(n.Pods, func(p cluster.Pod) bool { return pdbs.Hold(&p) != "" }) {
			nodes = append(nodes, n)
		}
	}
	slices.SortFunc(nodes, func(a, b *cluster.Node) int {
		return cmp.Or(cmp.Compare(len(a.Pods), len(b.Pods)), cmp.Compare(a.Name, b.Name))
	})
	for _, n := range nodes {
		if m, ok := without(s, n); ok {
			return m, true
		}
	}
	for _, n := range nodes {
		if m, ok := replaced(s, n); ok {
			return m, true
		}
	}
	return plan.Move{}, false
}

// letGo is a move that lets the node go.
func letGo(n *cluster.Node, note string) (plan.Move, removal.Drain) {
	r := plan.Removal{Node: n.Name, Claim: n.Claim, Pool: n.Pool, Reason: plan.Underutilized, Note: note}
	places := removal.Drain{Nodes: map[string]bool{n.Name: true}, Pods: map[string]bool{}}
	for _, p := range n.Pods {
		if p.Moves() && !p.Ending {
			r.Pods = append(r.Pods, p)
			places.Pods[p.UID] = true
		}
	}
	return plan.Move{Removals: []plan.Removal{r}, Saves: n.Price}, places
}

// without lets the node go if its pods fit on others.
func without(s *cluster.Snapshot, n *cluster.Node) (plan.Move, bool) {
	m, places := letGo(n, "its pods fit on others")
	found, left := removal.Rehome(s, places)
	m.Placements = found
	return m, len(left) == 0
}

// replaced lets the node go if a cheaper instance holds its pods.
func replaced(s *cluster.Snapshot, n *cluster.Node) (plan.Move, bool) {
	m, _ := letGo(n, "a cheaper instance holds its pods")
	pool, _ := s.Pool(n.Pool)
	choice, err := bench.CheapestFor(pool, m.Removals[0].Pods)
	if err != nil || choice.Price >= n.Price {
		return plan.Move{}, false
	}
	only := func(key, value string) constraint.Requirement {
		return constraint.Requirement{Key: key, Set: constraint.Values(value)}
	}
	l := plan.Launch{Name: "instead", Pool: pool.ID, Choice: choice, Requests: bench.SumOf(m.Removals[0].Pods), Pods: m.Removals[0].Pods,
		Requirements: pool.Requirements.And(only(cluster.LabelInstanceType, choice.Kind)).And(only(cluster.LabelZone, choice.Zone)).
			And(only(cluster.LabelCapacityType, string(choice.Option)))}
	for _, p := range l.Pods {
		m.Placements = append(m.Placements, plan.Placement{Pod: p, On: plan.OnLaunch, Target: l.Name})
	}
	m.Launches, m.Saves = []plan.Launch{l}, n.Price-choice.Price
	return m, true
}
