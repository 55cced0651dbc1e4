package rules

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
)

// state is a snapshot made ready for scheduling simulations.
type state struct {
	*cluster.Snapshot
	dims    amount.Dims
	pools   []*pool
	targets []target
	levels  map[*cluster.Shape][]*level
	prefers bool // pods insist on preferences for as long as these can be met
	shy     bool // and on no taint PreferNoSchedule
	ruled   bool // some rule checks other pods

	spotToSpot bool // spot nodes are replaced by spot nodes
}

// target is a node, or an instance being launched, that may get pods.
type target struct {
	on     plan.Destination
	name   string
	node   *cluster.Node // nil for an instance being launched
	labels constraint.Labels
	taints []constraint.Taint
	admits func(*cluster.Shape) feasibility.Reason
	free   []int64
	owned  bool // free is the simulation's own
	ports  []cluster.Port
	stable bool // initialized
	place  int  // on the board
}

// newState prepares the snapshot. With prefers, preferences of pods count.
func newState(s *cluster.Snapshot, prefers bool) *state {
	x := &state{Snapshot: s, levels: map[*cluster.Shape][]*level{}, prefers: prefers}
	pods := place.Waiting(s)
	for i := range s.Nodes {
		pods = append(pods, s.Nodes[i].Pods...)
	}
	x.dims = amount.Of(pods)
	for i := range pods {
		x.ruled = x.ruled || len(pods[i].Shape.Spread)+len(pods[i].Shape.Neighbours) > 0
	}
	for _, p := range feasibility.ForPools(s.Pools, s.Daemons) {
		one := &pool{Pool: p, available: p.Available()}
		for k := range p.Kinds {
			one.free = append(one.free, x.dims.Vector(p.Kinds[k].Free, p.InstanceTypeAt(k).Attachable))
		}
		x.pools = append(x.pools, one)
		x.shy = x.shy || prefers && feasibility.Avoided(p.Taints, nil)
	}
	slices.SortStableFunc(x.pools, func(a, b *pool) int {
		return cmp.Or(cmp.Compare(b.Weight, a.Weight), cmp.Compare(b.ID.Name, a.ID.Name))
	})
	x.findTargets()
	return x
}

// findTargets lists initialized nodes first, and each part by name.
func (x *state) findTargets() {
	for i := range x.Nodes {
		if n := &x.Nodes[i]; !n.Deleting {
			x.targets = append(x.targets, target{on: plan.OnNode, name: n.Name, node: n, labels: n.Labels, taints: feasibility.LastingTaints(n), stable: n.Initialized,
				admits: func(s *cluster.Shape) feasibility.Reason { return feasibility.NodeAdmits(s, n) },
				free:   x.attached(x.dims.Vector(feasibility.Free(n, x.Daemons), n.Attachable), n.Pods), ports: feasibility.Ports(n, x.Daemons)})
		}
	}
	for i := range x.Instances {
		m := &x.Instances[i]
		if m.Deleting {
			continue
		}
		var of *feasibility.Pool
		if at := slices.IndexFunc(x.pools, func(p *pool) bool { return p.ID == m.Pool }); at >= 0 {
			of = x.pools[at].Pool
		}
		o := feasibility.ForInstance(m, of, x.Daemons)
		x.targets = append(x.targets, target{on: plan.OnInstance, name: m.Claim, labels: o.Known().With(cluster.LabelHostname, m.Claim), taints: m.Taints,
			admits: o.Admits, free: x.dims.Vector(o.Free, m.Attachable), ports: o.Ports})
	}
	slices.SortStableFunc(x.targets, func(a, b target) int {
		if a.stable != b.stable {
			return cmp.Compare(btoi(b.stable), btoi(a.stable))
		}
		return cmp.Compare(a.name, b.name)
	})
}

func btoi(b bool) int {
	if b {
		return 1
	}
	return 0
}

// attached takes off what volumes of pods use.
func (x *state) attached(free []int64, pods []cluster.Pod) []int64 {
	for i := range pods {
		for _, v := range pods[i].Shape.Volumes {
			if at, known := x.dims.Driver(v.Driver); known {
				free[at]--
			}
		}
	}
	return free
}

// need is what a pod of the shape takes.
func (x *state) need(s *cluster.Shape) []int64 {
	out := x.dims.Need(s)
	for _, v := range s.Volumes {
		if at, known := x.dims.Driver(v.Driver); known && v.Claim != "" {
			out[at]++
		}
	}
	return out
}
