package removal

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
)

// Drain is nodes that are about to be removed, and their pods that need other places.
type Drain struct {
	Nodes   map[string]bool   // by name
	Pods    map[string]bool   // by UID; wherever the snapshot shows them
	Targets map[string]string // by UID: the node that a plan chose, if any
}

// Rehome seeks places for the pods of a removal on nodes that are ready and open, with nothing launched and without
// instances being launched. It returns the places, and the pods that have none. It uses the places of the plan only
// where pods find none otherwise. This is the last check before nodes are removed.
//
// Cost: that of Place for these pods; if not all find a place at first, that of Place once more for each.
func Rehome(s *cluster.Snapshot, r Drain) ([]plan.Placement, []plan.Unplaced) {
	now, out := emptied(s, &r)
	found := placeOn(now, out)
	if len(found.Unplaced) == 0 {
		return found.Placements, nil
	}
	var placed []plan.Placement
	for again := true; again && len(out) > 0; { // others may have had to come first
		before := len(out)
		out = slices.DeleteFunc(out, func(p cluster.Pod) bool {
			yes := sitsOn(now, p, r.Targets[p.UID])
			if yes {
				placed = append(placed, plan.Placement{Pod: p, On: plan.OnNode, Target: r.Targets[p.UID]})
			}
			return yes
		})
		again = len(out) < before
	}
	found = placeOn(now, out)
	return append(placed, found.Placements...), found.Unplaced
}

// emptied returns the snapshot without what is to be removed, and the pods that need places. It has no pools, since
// nothing is launched for these pods. Nodes from which no pod moves share their pods with the snapshot.
func emptied(s *cluster.Snapshot, r *Drain) (*cluster.Snapshot, []cluster.Pod) {
	now := *s
	now.Waiting, now.Instances, now.PDBs, now.Pools = nil, nil, nil, nil
	now.Nodes = make([]cluster.Node, 0, len(s.Nodes))
	var out []cluster.Pod
	for i := range s.Nodes {
		n := s.Nodes[i]
		moving := r.pods(&n)
		if len(moving) > 0 {
			n.Pods = slices.DeleteFunc(slices.Clone(n.Pods), func(p cluster.Pod) bool { return r.Pods[p.UID] })
			out = append(out, moving...)
		}
		n.LaunchedFor = nil
		if r.Nodes[n.Name] || n.InstanceEnds || n.Deleting && n.Goes() && !isClosed(&n) {
			continue // rules do not count it once it is gone
		}
		if n.Deleting || !n.Ready || !n.Initialized {
			n.Deleting, n.Taints = false, []constraint.Taint{closed}
		}
		now.Nodes = append(now.Nodes, n)
	}
	return &now, out
}

// pods returns the pods of the node that are to move, as waiting pods.
func (r *Drain) pods(n *cluster.Node) (out []cluster.Pod) {
	for i := range n.Pods {
		if !r.Pods[n.Pods[i].UID] {
			continue
		}
		p := n.Pods[i].MovedTo("")
		p.Returns = true
		out = append(out, p)
	}
	return out
}

// closed keeps every pod away.
var closed = constraint.Taint{Key: "daemok.sh/closed", Effect: constraint.NoSchedule}

// isClosed reports whether the node may still stay although it is being deleted: see cluster.Node.Close.
func isClosed(n *cluster.Node) bool {
	return !slices.ContainsFunc(n.Pods, func(p cluster.Pod) bool { return p.Returns })
}

func placeOn(s *cluster.Snapshot, pods []cluster.Pod) place.Result {
	with := *s
	with.Waiting = slices.SortedFunc(slices.Values(pods), func(a, b cluster.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	return place.Place(&with, place.Options{})
}

// sitsOn puts a pod on a node, if it can be there now.
func sitsOn(s *cluster.Snapshot, p cluster.Pod, target string) bool {
	at := slices.IndexFunc(s.Nodes, func(n cluster.Node) bool { return n.Name == target })
	if at < 0 {
		return false
	}
	alone := *s
	alone.Nodes = slices.Clone(s.Nodes)
	for i := range alone.Nodes {
		if i != at {
			alone.Nodes[i].Taints = []constraint.Taint{closed}
		}
	}
	if len(placeOn(&alone, []cluster.Pod{p}).Unplaced) > 0 {
		return false
	}
	n := &s.Nodes[at]
	n.Pods = append(slices.Clip(n.Pods), p.MovedTo(n.Name))
	return true
}
