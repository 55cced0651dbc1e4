package rules

import (
	"cmp"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
)

// The settings of Cluster Autoscaler, as by default.
const (
	scanEvery     = 10 * time.Second // --scan-interval
	unneededFor   = 10 * time.Minute // --scale-down-unneeded-time
	afterAdd      = 10 * time.Minute // --scale-down-delay-after-add
	utilizedLeast = 0.5              // --scale-down-utilization-threshold
	goAtOnce      = 10               // --max-scale-down-parallelism
	drainAtOnce   = 1                // --max-drain-parallelism
	taintAtOnce   = 10               // --max-bulk-soft-taint-count
)

// autoscaler is what its loop remembers.
type autoscaler struct {
	scanAt   time.Time            // no scan before
	addedAt  time.Time            // when it last scaled up
	unneeded map[string]time.Time // nodes, since when
	revision uint64               // of the last scan
	asked    []*candidate         // what that found
}

// ClusterAutoscaler returns a decider that follows what the FAQ of Cluster Autoscaler documents, with its default
// settings, except for the expander least-waste: the documented one that comes closest to cost
// on AWS, where the expander price does not work.
//
// There is a node group for each instance type in each zone and each capacity type that a
// NodePool may launch, from none to any number of nodes: AWS advises groups of instances of
// one size and one capacity type, and of a single zone where pods use volumes or are bound
// to zones. Every 10 seconds pods that fit on no node, nor on one that is coming, are counted
// into new nodes of each group, first fit decreasing, and the group grows whose new nodes have
// the least idle cpu, then the least idle memory; ties go to the lower price, and to the zone
// with the fewest nodes (--balance-similar-node-groups). Else nodes are
// unneeded of which less than half is requested and whose pods fit elsewhere; after 10 minutes
// they go, ten at once if they are empty and one at a time if they have pods, and not within 10 minutes after
// a node was added. Unneeded nodes have a taint PreferNoSchedule, ten at most.
//
// Pods keep their node that are protected, that no controller would create again, and those
// of kube-system without a PodDisruptionBudget. Pods with local storage, which keep theirs by
// default, are not known to snapshots.
func ClusterAutoscaler() func(*cluster.Snapshot) plan.Plan {
	a := &autoscaler{unneeded: map[string]time.Time{}}
	return a.decide
}

func (a *autoscaler) decide(s *cluster.Snapshot) plan.Plan {
	out := plan.Plan{Basis: s.Revision}
	if scan := !s.Now.Before(a.scanAt); scan {
		a.scanAt = s.Now.Add(scanEvery)
		x := newState(s, false)
		if !a.scaleUp(x, &out) {
			a.look(x)
			out.Moves = a.scaleDown(x)
		}
	}
	out.Emptying = a.tainted(s)
	return out
}

// scaleUp lets one node group grow for pods that fit nowhere; false: there are none.
func (a *autoscaler) scaleUp(x *state, out *plan.Plan) bool {
	pods := place.Waiting(x.Snapshot)
	if len(pods) == 0 {
		return false
	}
	m := x.simulate(nil, pods, 0)
	m.run(pods)
	out.Placements = m.placed
	if len(m.unplaced) == 0 {
		return false
	}
	grown := m.expand()
	if grown != nil {
		a.addedAt = x.Now
		m.claims, m.unplaced = grown.claims, grown.left
	}
	m.report(out)
	return true
}

// look finds out which nodes are unneeded. Nothing is simulated again while nothing changes.
func (a *autoscaler) look(x *state) {
	if a.revision == x.Revision && a.asked != nil {
		return
	}
	since := map[string]time.Time{}
	a.revision, a.asked = x.Revision, x.removable(a.unneeded)
	for _, c := range a.asked {
		since[c.Name] = x.Now
		if at, before := a.unneeded[c.Name]; before {
			since[c.Name] = at
		}
	}
	a.unneeded = since
}

// removable lists nodes that are not needed, whose pods all fit on the others together.
// Those come first that have been unneeded for longest.
func (x *state) removable(before map[string]time.Time) []*candidate {
	var all []*candidate
	budgets := disruption.PDBsOf(x.PDBs)
	for i := range x.Nodes {
		n := &x.Nodes[i]
		pool, found := x.Pool(n.Pool)
		if !found || n.Claim == "" || !n.Initialized || !n.Ready || n.Deleting || n.DoNotDisrupt || len(n.LaunchedFor) > 0 ||
			utilization(n) >= utilizedLeast || disruption.EndsWork(n.Pods) != "" || heldBy(budgets, n.Pods) || slices.ContainsFunc(n.Pods, ofSystem) {
			continue
		}
		all = append(all, &candidate{Node: n, pool: pool, moving: moving(n)})
	}
	slices.SortStableFunc(all, func(a, b *candidate) int {
		one, other := before[a.Name], before[b.Name]
		return cmp.Or(cmp.Compare(btoi(one.IsZero()), btoi(other.IsZero())), one.Compare(other), cmp.Compare(a.Name, b.Name))
	})
	out := []*candidate{}
	for _, c := range all {
		if with := append(slices.Clip(out), c); len(c.moving) == 0 || x.fitElsewhere(with) {
			out = with
		}
	}
	return out
}

// fitElsewhere reports whether the pods of the nodes fit on others that have started.
func (x *state) fitElsewhere(nodes []*candidate) bool {
	pods := place.Waiting(x.Snapshot)
	for _, c := range nodes {
		pods = append(pods, c.moving...)
	}
	m := x.simulate(nodes, pods, 0)
	m.run(pods)
	return !slices.ContainsFunc(m.unplaced, func(p cluster.Pod) bool { return m.moving[p.UID] })
}

// utilization is the share of cpu or of memory that pods of the node request, whichever is more.
func utilization(n *cluster.Node) float64 {
	var cpu, memory float64
	for i := range n.Pods {
		takes := n.Pods[i].Takes()
		cpu, memory = cpu+float64(takes.CPU), memory+float64(takes.Memory)
	}
	return max(cpu/float64(max(1, n.Allocatable.CPU)), memory/float64(max(1, n.Allocatable.Memory)))
}

// ofSystem reports whether the pod keeps its node as one of kube-system without a PodDisruptionBudget.
func ofSystem(p cluster.Pod) bool {
	return p.Namespace == "kube-system" && !p.Daemon && !p.Mirror && !p.Ending && p.PDBs == ""
}

// scaleDown removes nodes that have been unneeded for long enough: empty ones together, and one with
// pods while no other is drained.
func (a *autoscaler) scaleDown(x *state) (out []plan.Move) {
	if x.Freeze != "" || x.Now.Before(a.addedAt.Add(afterAdd)) {
		return nil
	}
	drains := 0
	for i := range x.Nodes {
		if n := &x.Nodes[i]; n.Deleting && !disruption.IsEmpty(n) {
			drains++
		}
	}
	ripe := slices.DeleteFunc(slices.Clone(a.asked), func(c *candidate) bool { return x.Now.Sub(a.unneeded[c.Name]) < unneededFor })
	for _, c := range x.within(ripe, plan.Underutilized) {
		reason, note := plan.Empty, "it has been empty for 10 minutes"
		if len(c.moving) > 0 {
			if drains++; drains > drainAtOnce {
				continue
			}
			reason, note = plan.Underutilized, "it has been unneeded for 10 minutes"
		}
		if len(out) == goAtOnce {
			break
		}
		out = append(out, plan.Move{Removals: []plan.Removal{c.removal(reason, note)}, Saves: c.Price})
	}
	return out
}

// tainted lists the unneeded nodes that new pods are to avoid.
func (a *autoscaler) tainted(s *cluster.Snapshot) (out []plan.Emptying) {
	for i := range s.Nodes {
		n := &s.Nodes[i]
		if _, is := a.unneeded[n.Name]; is && !n.Deleting && len(out) < taintAtOnce {
			out = append(out, plan.Emptying{Node: n.Name, Claim: n.Claim, Pool: n.Pool, Note: "it is unneeded"})
		}
	}
	return out
}
