package sim_test

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/retire"
)

// decided is a whole plan: homes for pods that wait, and moves of all kinds.
func decided(s *cluster.Snapshot) plan.Plan {
	out := decide.Decide(s, decide.Policy{}, decide.Quick())
	needed := map[string]bool{}
	for _, p := range out.Placements {
		if p.On == plan.OnNode {
			needed[p.Target] = true
		}
	}
	x := retire.New(s, func(node string) bool { return needed[node] }, func() retire.Ground { return newWhole(s, out.Placements) }, retire.Options{})
	x.Finish()
	out.Moves, out.Kept = x.Moves, x.Kept
	return out
}

// whole is a ground that places the pods of nodes that go by placing everything
// anew: slow, and plain to see that it is right.
type whole struct{ s *cluster.Snapshot }

func newWhole(s *cluster.Snapshot, taken []plan.Placement) *whole {
	t := *s
	t.Waiting, t.Machines, t.Nodes = nil, nil, slices.Clone(s.Nodes)
	for i := range t.Nodes {
		if t.Nodes[i].Deleting {
			t.Nodes[i].Pods = nil // they have been seen to already
		}
	}
	w := &whole{&t}
	w.Take(retire.Question{}, &retire.Answer{Placements: taken})
	return w
}

func (w *whole) Ask(q retire.Question) *retire.Answer {
	t := *w.s
	t.Nodes, t.Pools = slices.Clone(w.s.Nodes), slices.Clone(w.s.Pools)
	for i := range t.Nodes {
		n := &t.Nodes[i]
		switch {
		case slices.Contains(q.Leave, i):
			n.Deleting = true
		case n.Deleting, !n.Ready, q.Open != nil && !q.Open(n):
			n.Taints = append(slices.Clone(n.Taints), constraint.Taint{Key: "closed", Effect: constraint.NoSchedule})
		}
	}
	for i := range t.Pools {
		if p := &t.Pools[i]; q.Forbid != nil && p.Catalogue != nil {
			p.Catalogue = without(p.Catalogue, q.Forbid)
		}
	}
	out := place.Place(&t, place.Options{})
	if sum := (&plan.Plan{Launches: out.Launches}).LaunchCost(); sum > q.Below {
		for _, l := range out.Launches {
			out.Unplaced = append(out.Unplaced, plan.Unplaced{Shape: l.Pods[0].Shape, Pods: l.Pods,
				Reasons: []plan.Reason{{Text: "machines for its pods cost " + sum.String()}}})
		}
	}
	return &out
}

func without(c *cluster.Catalogue, forbid func(string, cluster.Option) bool) *cluster.Catalogue {
	out := *c
	out.Kinds = slices.Clone(c.Kinds)
	for i := range out.Kinds {
		k := &out.Kinds[i]
		k.Offers = slices.DeleteFunc(slices.Clone(k.Offers), func(o cluster.Offer) bool { return forbid(k.Name, o.Option) })
	}
	return &out
}

func (w *whole) Take(q retire.Question, a *retire.Answer) {
	w.s.Nodes = slices.Clone(w.s.Nodes)
	for _, at := range q.Leave {
		w.s.Nodes[at].Deleting, w.s.Nodes[at].Pods = true, nil
	}
	for _, p := range a.Placements {
		if p.On != plan.OnNode {
			continue
		}
		at := slices.IndexFunc(w.s.Nodes, func(n cluster.Node) bool { return n.Name == p.Target })
		p.Pod.Node = p.Target
		w.s.Nodes[at].Pods = append(slices.Clone(w.s.Nodes[at].Pods), p.Pod)
	}
}
