package decide

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
)

// coming finds room for the pods that are expected, on nodes and launched instances that are there
// and beside what was decided for pods that wait: nothing is launched for them. Those that
// something was launched for have that where it is free. But kube-scheduler puts equal pods where
// it likes, and what was launched for one is often taken by another that came earlier: then it is
// what is left that must stay. Places and pods without one are those of expected pods alone.
//
// Cost: that of Place for these pods, where any is expected.
func coming(s *cluster.Snapshot, placements []plan.Placement, policy Policy) place.Result {
	if len(s.Expected) == 0 {
		return place.Result{}
	}
	expected := map[string]bool{}
	promises := map[target][]cluster.Pod{}
	with := *s
	with.Waiting, with.Expected = nil, nil
	for _, p := range s.Expected {
		p.Ending = false
		expected[p.UID] = true
		with.Waiting = append(with.Waiting, p)
	}
	for _, p := range placements {
		if p.On == plan.OnLaunch {
			continue
		}
		to := target{p.On, p.Target}
		promises[to] = append(promises[to], p.Pod)
		if p.Pod.Node == "" { // else it must leave a node, which the snapshot shows
			with.Waiting = append(with.Waiting, p.Pod)
		}
	}
	own := func(pods []cluster.Pod, on plan.Destination, name string) []cluster.Pod {
		return slices.Concat(promises[target{on, name}], slices.DeleteFunc(slices.Clone(pods), func(p cluster.Pod) bool { return !expected[p.UID] }))
	}
	with.Nodes, with.Instances, with.Pools = slices.Clone(s.Nodes), slices.Clone(s.Instances), slices.Clone(s.Pools)
	for i := range with.Nodes {
		with.Nodes[i].LaunchedFor = own(s.Nodes[i].LaunchedFor, plan.OnNode, s.Nodes[i].Name)
	}
	for i := range with.Instances {
		with.Instances[i].LaunchedFor = own(s.Instances[i].LaunchedFor, plan.OnInstance, s.Instances[i].Claim)
	}
	for i := range with.Pools {
		with.Pools[i].NotReady = "nothing is launched for pods that are expected"
	}
	with.SortLists()
	options := policy.asking()
	options.Steps, options.Unproven = placeSteps, true
	out := place.Place(&with, options)
	out.Placements = slices.DeleteFunc(out.Placements, func(p plan.Placement) bool { return !expected[p.Pod.UID] })
	for i := range out.Unplaced {
		out.Unplaced[i].Pods = slices.DeleteFunc(slices.Clone(out.Unplaced[i].Pods), func(p cluster.Pod) bool { return !expected[p.UID] })
	}
	return out
}

// promised is the snapshot with nodes that say which pods are coming to them.
func promised(s *cluster.Snapshot, coming []plan.Placement) *cluster.Snapshot {
	to := map[string][]cluster.Pod{}
	for _, p := range coming {
		if p.On == plan.OnNode {
			to[p.Target] = append(to[p.Target], p.Pod)
		}
	}
	if len(to) == 0 {
		return s
	}
	out := *s
	out.Nodes = slices.Clone(s.Nodes)
	for i := range out.Nodes {
		if n := &out.Nodes[i]; len(n.LaunchedFor) == 0 {
			n.LaunchedFor = to[n.Name]
		}
	}
	return &out
}
