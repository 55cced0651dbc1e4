// Package static launches what static NodePools lack of the nodes that spec.replicas asks for.
//
// It promises that no launch exceeds the limits of its NodePool, and that a node which is being replaced and the instance
// in its place count once. Pods have no part in what it launches: core/decide places them on the new nodes as on any
// others. core/disruption removes nodes that are too many.
package static

import (
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/offering"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// Missing returns the launches of the nodes that static pools lack, by pool, and the pools for which not all can be
// launched. Nodes that are being deleted count for limits until they are gone, so that what is missing may have to wait
// for them. Of one pool no more are launched at once than one request to EC2 may ask for.
//
// Cost: linear in nodes and instances; where something is missing, that of place.Place for as many pods.
func Missing(s *cluster.Snapshot, o place.Options) (launches []plan.Launch, short []plan.Short) {
	for i := range s.Pools {
		p := &s.Pools[i]
		if !p.Static() || p.NotReady == cluster.PoolDeleting {
			continue
		}
		missing := s.Lacking(p)
		if missing == 0 {
			continue
		}
		own, reasons := Launches(beside(s, launches), p, min(missing, offering.InstancesMax), o)
		for j := range own {
			own[j].Name = fmt.Sprintf("static-%d", len(launches)+1)
			launches = append(launches, own[j])
		}
		if len(own) < int(min(missing, offering.InstancesMax)) {
			short = append(short, plan.Short{Pool: p.ID, Want: *p.Replicas, Missing: missing - int64(len(own)), Reasons: reasons})
		}
	}
	return launches, short
}

// beside is the snapshot with launches of other pools, which take of the same capacity reservations and quotas.
func beside(s *cluster.Snapshot, launches []plan.Launch) *cluster.Snapshot {
	if len(launches) == 0 {
		return s
	}
	out := *s
	out.Instances, out.Pools, out.Quotas = slices.Clip(out.Instances), slices.Clone(out.Pools), slices.Clone(out.Quotas)
	for i := range launches {
		out.Instances = append(out.Instances, launches[i].InFlight(&out, launches[i].Name))
	}
	return &out
}

// elsewhere keeps an instance that is being launched already from being one of those that are missing.
var elsewhere = constraint.Taint{Key: "daemok.sh/launched", Effect: constraint.NoSchedule}

// alone is a port that two pods of one node cannot both take, and that no pod can ask for.
var alone = cluster.Port{Protocol: "TCP", Number: -1}

// Launches returns the launches of n instances of a pool that is static or has a minimum of on-demand nodes, or of
// fewer with the reasons why there are no more. It asks for n pods of which each needs a node of its own and nothing
// else, so that an instance is what the pool asks for, as cheap as can be had, with room for its DaemonSets. The
// launches are named as those of any answer.
func Launches(s *cluster.Snapshot, p *cluster.Pool, n int64, o place.Options) ([]plan.Launch, []plan.Reason) {
	with := cluster.Snapshot{Revision: s.Revision, Now: s.Now, Daemons: s.Daemons, Quotas: s.Quotas,
		Commitments: s.Commitments, Pools: slices.Clone(s.Pools), Instances: slices.Clone(s.Instances)}
	for i := range with.Pools {
		if q := &with.Pools[i]; q.ID == p.ID {
			q.Replicas = nil
		} else {
			q.NotReady = "only " + p.ID.String() + " counts"
		}
	}
	for i := range with.Instances {
		m := &with.Instances[i]
		m.Taints, m.LaunchedFor = append(slices.Clip(m.Taints), elsewhere), nil
	}
	if p.OnDemand.Any() || s.Commitments.Any() {
		with.Nodes = closed(s, p.ID)
	}
	shape := &cluster.Shape{Requests: quantity.Resources{Pods: 1}, Ports: []cluster.Port{alone}}
	for _, t := range p.Taints {
		shape.Tolerations = append(shape.Tolerations, constraint.Toleration{Key: t.Key, Value: t.Value, Effect: t.Effect})
	}
	for i := range n {
		with.Waiting = append(with.Waiting, cluster.Pod{Name: fmt.Sprintf("%09d", i), UID: fmt.Sprint(i), Shape: shape})
	}
	o.Unproven = true
	answer := place.Place(&with, o)
	for i := range answer.Launches {
		l := &answer.Launches[i]
		l.Requests, l.Pods, l.Static, l.Joins = l.Requests.Sub(shape.Requests), nil, true, nil
		if l.Reason = p.Keeps(); !p.Static() {
			l.Reason = fmt.Sprintf("%s of %s: %s", cluster.LimitOnDemand, p.ID, p.OnDemand)
		}
	}
	var reasons []plan.Reason
	for _, u := range answer.Unplaced {
		for _, r := range u.Reasons {
			if r.Pool == p.ID || r.Pool == (cluster.PoolID{}) && !r.Others {
				reasons = append(reasons, r)
			}
		}
	}
	return answer.Launches, reasons
}

// closed is the nodes that count for what the pool launches, none of which takes a pod: its own, for its minimum of those
// that are on demand, and all nodes where commitments pay for some.
func closed(s *cluster.Snapshot, id cluster.PoolID) (out []cluster.Node) {
	for i := range s.Nodes {
		if n := s.Nodes[i]; n.Pool == id || s.Commitments.Any() {
			n.Taints, n.Pods, n.LaunchedFor = append(slices.Clip(n.Taints), elsewhere), nil, nil
			out = append(out, n)
		}
	}
	return out
}
