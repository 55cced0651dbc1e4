package place

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/fit"
	"github.com/daemok/daemok/core/plan"
)

// seat is a place that is there or on its way.
type seat struct {
	on      plan.Destination
	name    string
	free    []int64
	admits  func(*cluster.Shape) fit.Reason
	machine *cluster.Machine // of an ordered machine
}

// nodeSeats lists nodes that may take pods: initialized ones first, the
// fullest first among these, so that large gaps stay whole and the emptiest
// nodes can go.
func nodeSeats(s *cluster.Snapshot, d dims) []*seat {
	var nodes []*cluster.Node
	for i := range s.Nodes {
		if !s.Nodes[i].Deleting {
			nodes = append(nodes, &s.Nodes[i])
		}
	}
	free := map[*cluster.Node][]int64{}
	for _, n := range nodes {
		free[n] = d.vector(fit.Free(n, s.Daemons))
	}
	slices.SortStableFunc(nodes, func(a, b *cluster.Node) int {
		return cmp.Or(
			cmp.Compare(rank(a.Initialized), rank(b.Initialized)),
			slices.Compare(free[a], free[b]),
			a.CreatedAt.Compare(b.CreatedAt),
			cmp.Compare(a.Name, b.Name))
	})
	out := make([]*seat, len(nodes))
	for i, n := range nodes {
		out[i] = &seat{on: plan.OnNode, name: n.Name, free: free[n],
			admits: func(s *cluster.Shape) fit.Reason { return fit.NodeAdmits(s, n) }}
	}
	return out
}

func rank(first bool) int {
	if first {
		return 0
	}
	return 1
}

// machineSeats lists ordered machines, oldest first.
func machineSeats(s *cluster.Snapshot, pools []*fit.Pool, d dims) []*seat {
	var out []*seat
	for i := range s.Machines {
		m := &s.Machines[i]
		if m.Deleting {
			continue
		}
		ordered := fit.ForMachine(m, poolOf(m, pools))
		out = append(out, &seat{on: plan.OnMachine, name: m.Claim, machine: m, free: d.vector(ordered.Free), admits: ordered.Admits})
	}
	slices.SortStableFunc(out, func(a, b *seat) int {
		return cmp.Or(a.machine.CreatedAt.Compare(b.machine.CreatedAt), cmp.Compare(a.name, b.name))
	})
	return out
}

func poolOf(m *cluster.Machine, pools []*fit.Pool) *fit.Pool {
	for _, p := range pools {
		if p.ID == m.Pool {
			return p
		}
	}
	return nil
}

// honourOrders gives the pods that an ordered machine was bought for their
// place there, so that nobody else takes it and nothing is bought twice.
func (r *run) honourOrders() {
	waiting := map[[2]string]*group{}
	for _, g := range r.groups {
		for i := range g.pods {
			waiting[podKey(&g.pods[i])] = g
		}
	}
	placed := map[[2]string]bool{}
	for _, s := range r.seats {
		if s.machine == nil {
			continue
		}
		for _, p := range s.machine.BoughtFor {
			key := podKey(&p)
			g := waiting[key]
			if g == nil || placed[key] || !fits(s.free, g.need) || !s.admits(g.shape).OK() {
				continue
			}
			placed[key] = true
			r.place([]cluster.Pod{p}, s.on, s.name)
			take(s.free, g.need, 1)
		}
	}
	if len(placed) == 0 {
		return
	}
	for _, g := range r.groups {
		g.pods = slices.DeleteFunc(g.pods, func(p cluster.Pod) bool { return placed[podKey(&p)] })
	}
}

func podKey(p *cluster.Pod) [2]string { return [2]string{p.Namespace, p.Name} }

// fillSeats places pods of the group on what is there or on its way.
func (r *run) fillSeats(g *group) {
	for _, s := range r.seats {
		if g.left() == 0 || r.spent(1) {
			return
		}
		n := min(g.left(), count(s.free, g.need))
		if n == 0 || !s.admits(g.shape).OK() {
			continue
		}
		r.place(g.next(n), s.on, s.name)
		take(s.free, g.need, n)
	}
}
