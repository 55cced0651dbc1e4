package decide

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/feasibility"
)

// onDemandPods is the snapshot in which as many pods of each workload want on-demand nodes as its minimum asks for:
// those that are on such nodes first, then pods that need a place or are expected. Wherever plans place these, the
// minimum is kept; the others are free. Pods on spot nodes stay where they are, though their workload has too few of
// the others.
func onDemandPods(s *cluster.Snapshot) *cluster.Snapshot {
	if !asksForOnDemand(s) {
		return s
	}
	out := *s
	out.Waiting, out.Expected, out.Nodes = slices.Clone(s.Waiting), slices.Clone(s.Expected), slices.Clone(s.Nodes)
	pins := pins{terms: s.OnDemandTerms(), shapes: map[*cluster.Shape]*cluster.Shape{}, lists: map[string]bool{}}
	for _, w := range workloadsOf(&out) {
		w.pin(&out, &pins)
	}
	return &out
}

func asksForOnDemand(s *cluster.Snapshot) bool {
	if anyAsks(s.Waiting) || anyAsks(s.Expected) {
		return true
	}
	for i := range s.Nodes { // which are large to copy
		if anyAsks(s.Nodes[i].Pods) {
			return true
		}
	}
	return false
}

func anyAsks(pods []cluster.Pod) bool {
	for i := range pods {
		if pods[i].Shape.OnDemand.Any() {
			return true
		}
	}
	return false
}

// workload is the pods of one owner that have a minimum.
type workload struct {
	pods  []ofWorkload
	still int64 // pods beside them that end on nodes that stay, and in whose place others come
}

// ofWorkload is a pod of a workload.
type ofWorkload struct {
	node, at int // of the pod; or node is amongWaiting or amongExpected
	turn     turn
}

// Where pods without a node are.
const (
	amongWaiting  = -1
	amongExpected = -2
)

// turn is in which order pods of a workload are to be on demand, the lowest first.
type turn int

const (
	onDemandNode turn = iota // it is on one
	comingOnOne              // one is launched for it
	anywhere                 // it needs a place
	nowhere                  // it needs one, and no instance can be launched for it
	comingOnSpot             // an instance is launched for it that may be a spot instance, or is one
	stays                    // it is on a spot node
)

// workloadsOf lists the workloads with a minimum, in the order of their first pods.
func workloadsOf(s *cluster.Snapshot) []*workload {
	known, out := map[[2]string]*workload{}, []*workload(nil)
	of := func(p *cluster.Pod) *workload {
		id := [2]string{p.Namespace, cmp.Or(p.Owner, "Pod/"+p.Name)}
		if known[id] == nil {
			known[id] = &workload{}
			out = append(out, known[id])
		}
		return known[id]
	}
	coming := turnsOfLaunches(s)
	add := func(p *cluster.Pod, x ofWorkload) {
		if !p.Shape.OnDemand.Any() || p.Daemon || p.Mirror || p.Shape.Virtual {
			return
		}
		if t, launched := coming[p.UID]; x.turn == anywhere && launched {
			x.turn = t
		} else if x.turn == anywhere && p.Shape.Unable != "" {
			x.turn = nowhere
		}
		w := of(p)
		w.pods = append(w.pods, x)
	}
	for i := range s.Waiting {
		add(&s.Waiting[i], ofWorkload{amongWaiting, i, anywhere})
	}
	for i := range s.Expected {
		add(&s.Expected[i], ofWorkload{amongExpected, i, anywhere})
	}
	for i := range s.Nodes {
		n, t := &s.Nodes[i], stays
		switch {
		case n.Deleting && !n.Closed:
			t = anywhere
		case !n.IsSpot():
			t = onDemandNode
		}
		for j := range n.Pods {
			p := &n.Pods[j]
			switch {
			case !p.Ending, p.Returns && t == anywhere: // plans seek places for those too whose nodes go
				add(p, ofWorkload{i, j, t})
			case p.Returns && p.Shape.OnDemand.Any():
				of(p).still++
			}
		}
	}
	return out
}

// turnsOfLaunches is the turns of pods that instances were launched for which they are to have yet, by UID.
func turnsOfLaunches(s *cluster.Snapshot) map[string]turn {
	out := map[string]turn{}
	add := func(pods []cluster.Pod, spot bool) {
		t := comingOnOne
		if spot {
			t = comingOnSpot
		}
		for i := range pods {
			out[pods[i].UID] = t
		}
	}
	for i := range s.Nodes {
		if n := &s.Nodes[i]; !n.Deleting {
			add(n.LaunchedFor, n.IsSpot())
		}
	}
	for i := range s.Instances {
		if m := &s.Instances[i]; !m.Deleting {
			add(m.LaunchedFor, m.MayBeSpot())
		}
	}
	return out
}

// pins makes pods want on-demand nodes.
type pins struct {
	terms  []constraint.Requirements         // of on-demand nodes
	shapes map[*cluster.Shape]*cluster.Shape // by those that pods have
	lists  map[string]bool                   // by node: its list of pods is its own
}

// pin has as many pods want on-demand nodes as the minimum asks for. Where pods of the workload ask for different
// ones, as they may during a rollout, the largest counts.
func (w *workload) pin(s *cluster.Snapshot, to *pins) {
	slices.SortStableFunc(w.pods, func(a, b ofWorkload) int { return cmp.Compare(a.turn, b.turn) })
	all, least := int64(len(w.pods)), int64(0)
	for _, x := range w.pods {
		least = max(least, x.of(s).Shape.OnDemand.Of(all+w.still))
	}
	for _, x := range w.pods[:min(least, all)] {
		if x.turn == stays {
			return
		}
		if x.node >= 0 && !to.lists[s.Nodes[x.node].Name] {
			s.Nodes[x.node].Pods, to.lists[s.Nodes[x.node].Name] = slices.Clone(s.Nodes[x.node].Pods), true
		}
		p := x.of(s)
		p.Shape = to.pinned(p.Shape)
	}
}

func (x ofWorkload) of(s *cluster.Snapshot) *cluster.Pod {
	switch x.node {
	case amongWaiting:
		return &s.Waiting[x.at]
	case amongExpected:
		return &s.Expected[x.at]
	}
	return &s.Nodes[x.node].Pods[x.at]
}

// pinned is the shape with on-demand nodes wanted. kube-scheduler knows nothing of that: it counts pods of a spread
// on all nodes that the pod itself wants.
func (to *pins) pinned(shape *cluster.Shape) *cluster.Shape {
	out := to.shapes[shape]
	if out == nil {
		own := *shape
		own.NodeTerms = feasibility.Cross(shape.NodeTerms, to.terms)
		own.Spread = slices.Clone(shape.Spread)
		for i := range own.Spread {
			if x := &own.Spread[i]; !x.IgnoreNodeTerms {
				x.IgnoreNodeTerms, x.Among = true, shape.NodeTerms
			}
		}
		out, to.shapes[shape] = &own, &own
	}
	return out
}
