package removal

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/static"
)

// Coming is the instance being launched that a launch leads to, with the room for pods that it has whatever it becomes. It
// counts it against limits: the pools and quotas must be the snapshot's own.
func Coming(s *cluster.Snapshot, l *plan.Launch, name string) cluster.Instance {
	out := l.InFlight(s, name)
	pool, known := s.Pool(l.Pool)
	if !known || pool.Catalogue == nil {
		return out
	}
	out.StartupTaints = pool.StartupTaints
	types, first := l.Requirements.Get(cluster.LabelInstanceType), true
	for k := range pool.Catalogue.InstanceTypes {
		t := &pool.Catalogue.InstanceTypes[k]
		if !types.Allows(t.Name) {
			continue
		}
		has, _ := t.Ordered(l.Requests)
		if first {
			out.Allocatable, out.Attachable, first = has, t.Attachable, false
			continue
		}
		out.Allocatable, out.Attachable = out.Allocatable.Min(has), fewest(out.Attachable, t.Attachable)
	}
	return out
}

// fewest is how many volumes an instance takes that has one list or the other; a driver that is not listed has no limit.
func fewest(a, b []cluster.Attachable) []cluster.Attachable {
	out := slices.Clone(a)
	for _, x := range b {
		i := slices.IndexFunc(out, func(y cluster.Attachable) bool { return y.Driver == x.Driver })
		if i < 0 {
			out = append(out, x)
			continue
		}
		out[i].Count = min(out[i].Count, x.Count)
	}
	slices.SortFunc(out, func(x, y cluster.Attachable) int { return cmp.Compare(x.Driver, y.Driver) })
	return out
}

// without is the snapshot in which the node goes, where that matters for the instance in its place: a minimum of
// on-demand nodes no longer counts it, and it uses no commitment any more.
func (g *Simulator) without(node int, pool *cluster.Pool) *cluster.Snapshot {
	if !pool.OnDemand.Any() && !g.snapshot.Commitments.Any() {
		return g.snapshot
	}
	out := *g.snapshot
	out.Nodes = slices.Clone(out.Nodes)
	out.Nodes[node].Deleting = true
	return &out
}

// Successor launches an instance of a pool in place of one of its nodes, and places those of the node's pods on it
// that fit there whatever is elsewhere; others are left. Without a launch there are reasons.
func (g *Simulator) Successor(node int) (place.Result, []plan.Reason) {
	n := &g.snapshot.Nodes[node]
	pool, ok := g.snapshot.Pool(n.Pool)
	if !ok {
		return place.Result{}, nil
	}
	launches, reasons := static.Launches(g.without(node, pool), pool, 1, g.options)
	if len(launches) == 0 {
		return place.Result{}, reasons
	}
	with := cluster.Snapshot{Revision: g.snapshot.Revision, Now: g.snapshot.Now, Daemons: g.snapshot.Daemons, Pools: slices.Clone(g.snapshot.Pools)}
	with.Instances = []cluster.Instance{Coming(&with, &launches[0], launches[0].Name)}
	for i := range with.Pools {
		with.Pools[i].NotReady = "only the instance in place of the node counts"
	}
	for i := range n.Pods {
		if p := &n.Pods[i]; p.Moves() {
			with.Waiting = append(with.Waiting, p.MovedTo(""))
		}
	}
	with.SortLists()
	options := g.options
	options.Ready, options.Unexplained, options.Unproven, options.Questions = nil, true, true, false
	answer := place.Place(&with, options)
	for i := range answer.Placements {
		answer.Placements[i].On = plan.OnLaunch
		answer.Placements[i].Pod.Node = n.Name
	}
	launches[0].Pods = nil
	for _, x := range answer.Placements {
		launches[0].Pods = append(launches[0].Pods, x.Pod)
	}
	slices.SortFunc(launches[0].Pods, plan.ByName)
	answer.Launches = launches
	return answer, nil
}
