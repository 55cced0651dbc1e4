package promise

import (
	"cmp"
	"fmt"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
)

// OnDemand says which minimum of on-demand nodes a plan breaks: that of a pool, or of the pods of a workload. Nodes
// that are too old, and those of pools that are being deleted, may go in any event, and so do pods of pools that
// have too many nodes, and pods that nothing creates again.
func OnDemand(s *cluster.Snapshot, p *plan.Plan) string {
	for i := range s.Pools {
		if pool := &s.Pools[i]; pool.OnDemand.Any() && pool.NotReady != cluster.PoolDeleting {
			if why := keepsMinimum(s, p, pool); why != "" {
				return why
			}
		}
	}
	return keepsWorkloads(s, p)
}

// keepsMinimum says how the plan leaves the pool with too few on-demand nodes: by launches for pods that may become
// spot instances, or by what it removes and launches in all.
func keepsMinimum(s *cluster.Snapshot, p *plan.Plan, pool *cluster.Pool) string {
	before := s.Balance(pool.ID)
	after, spot := before, ""
	launch := func(list []plan.Launch) {
		for i := range list {
			if l := &list[i]; l.Pool == pool.ID {
				after.Count(l.MayBeSpot(), 1)
				if l.MayBeSpot() {
					spot = l.Name
				}
			}
		}
	}
	launch(p.Launches)
	if spot != "" && pool.OnDemand.Short(after) > 0 {
		return fmt.Sprintf("%s may become a spot instance, %d of %d nodes of %s are on demand, and its minimum is %s",
			spot, after.OnDemand, after.OnDemand+after.Spot, pool.ID, pool.OnDemand)
	}
	tooOld := int64(0) // nodes on demand
	for i := range p.Moves {
		launch(p.Moves[i].Launches)
		for _, r := range p.Moves[i].Removals {
			if n := nodeOf(s, r.Node); n != nil && r.Pool == pool.ID {
				after.Count(n.IsSpot(), -1)
				if !n.IsSpot() && r.Reason == plan.Expired {
					tooOld++
				}
			}
		}
	}
	for _, w := range p.Withdrawals {
		for i := range s.Instances {
			if m := &s.Instances[i]; m.Claim == w.Claim && m.Pool == pool.ID {
				after.Count(m.MayBeSpot(), -1)
			}
		}
	}
	if most, bounded := pool.Most(); bounded {
		for i := range s.Instances { // a spot instance too many goes once it has joined
			m := &s.Instances[i]
			comes := m.Pool == pool.ID && m.Launched && !m.Deleting && m.MayBeSpot()
			if comes && after.OnDemand+after.Spot > most {
				after.Count(true, -1)
			}
		}
	}
	worse := after.OnDemand+tooOld < before.OnDemand || after.Spot > before.Spot
	if worse && pool.OnDemand.Short(after) > 0 {
		return fmt.Sprintf("%d of %d nodes of %s are to be on demand instead of %d of %d, and its minimum is %s",
			after.OnDemand, after.OnDemand+after.Spot, pool.ID,
			before.OnDemand, before.OnDemand+before.Spot, pool.OnDemand)
	}
	return ""
}

// Goes says how a pool loses on-demand nodes that its minimum asks for when some of its nodes go, and others have
// come in their place.
func Goes(s *cluster.Snapshot, leaving, came map[string]bool) string {
	for i := range s.Pools {
		pool := &s.Pools[i]
		if !pool.OnDemand.Any() || pool.NotReady == cluster.PoolDeleting {
			continue
		}
		var before, after cluster.Balance
		goes := false
		for j := range s.Nodes {
			switch n := &s.Nodes[j]; {
			case n.Pool != pool.ID:
			case leaving[n.Name]:
				goes = true
				before.Count(n.IsSpot(), 1)
			case n.Deleting:
			case came[n.Name]:
				after.Count(n.IsSpot(), 1)
			default:
				before.Count(n.IsSpot(), 1)
				after.Count(n.IsSpot(), 1)
			}
		}
		if goes && after.OnDemand < before.OnDemand && pool.OnDemand.Short(after) > 0 {
			return fmt.Sprintf("%d of %d nodes of %s are left on demand instead of %d, and its minimum is %s",
				after.OnDemand, after.OnDemand+after.Spot, pool.ID, before.OnDemand, pool.OnDemand)
		}
	}
	return ""
}

// onDemandPods is the pods of a workload with a minimum, as a plan finds them and leaves them.
type onDemandPods struct {
	least         cluster.Minimum
	all           int64
	before, after int64 // on nodes that are on demand
}

// keepsWorkloads says which workload has fewer of its pods on on-demand nodes than its minimum asks for by what the
// plan removes.
func keepsWorkloads(s *cluster.Snapshot, p *plan.Plan) string {
	all := map[string]*onDemandPods{}
	of := func(pod *cluster.Pod) *onDemandPods {
		id := pod.Namespace + "/" + cmp.Or(pod.Owner, pod.Name)
		if all[id] == nil {
			all[id] = &onDemandPods{least: pod.Shape.OnDemand}
		}
		return all[id]
	}
	goes, to := map[string]bool{}, map[string]bool{} // by pod; to: it comes to an on-demand node
	for i := range p.Moves {
		m := &p.Moves[i]
		for _, r := range m.Removals {
			for _, pod := range r.Pods {
				goes[pod.UID] = r.Reason != plan.Expired && r.Reason != plan.Overprovisioned
			}
		}
		for _, x := range m.Placements {
			to[x.Pod.UID] = isOnDemand(s, m.Launches, p.Launches, &x)
		}
	}
	for i := range s.Nodes {
		n := &s.Nodes[i]
		for j := range n.Pods {
			pod := &n.Pods[j]
			if pod.Ending || pod.OneOff != "" || pod.Shape.Virtual || !pod.Shape.OnDemand.Any() {
				continue
			}
			leaves := n.Deleting && !n.Closed // else it counts where it is: see cluster.Node.Close
			if leaves && !pod.Returns {
				continue // it goes with its node, and none comes in its place
			}
			w := of(pod)
			w.all++
			if leaves {
				continue
			}
			if !n.IsSpot() {
				w.before++
			}
			if moves := goes[pod.UID]; !moves && !n.IsSpot() || moves && to[pod.UID] {
				w.after++
			}
		}
	}
	for i := range s.Waiting {
		if pod := &s.Waiting[i]; pod.Shape.OnDemand.Any() && !pod.Shape.Virtual {
			of(pod).all++
		}
	}
	for id, w := range all {
		if least := w.least.Of(w.all); w.after < min(w.before, least) {
			return fmt.Sprintf("%d of %d pods of %s are to be on demand instead of %d, and its minimum is %s",
				w.after, w.all, id, w.before, w.least)
		}
	}
	return ""
}

// isOnDemand reports whether a pod is placed where it is not interrupted.
func isOnDemand(s *cluster.Snapshot, own, others []plan.Launch, to *plan.Placement) bool {
	switch to.On {
	case plan.OnNode:
		n := nodeOf(s, to.Target)
		return n != nil && !n.IsSpot()
	case plan.OnInstance:
		for i := range s.Instances {
			if m := &s.Instances[i]; m.Claim == to.Target {
				return !m.MayBeSpot()
			}
		}
		return false
	}
	for _, list := range [][]plan.Launch{own, others} {
		for i := range list {
			if list[i].Name == to.Target {
				return !list[i].MayBeSpot()
			}
		}
	}
	return false
}

func nodeOf(s *cluster.Snapshot, name string) *cluster.Node {
	for i := range s.Nodes {
		if s.Nodes[i].Name == name {
			return &s.Nodes[i]
		}
	}
	return nil
}
