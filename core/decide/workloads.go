package decide

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// onDemandPods is the snapshot in which as many pods of each workload want on-demand nodes as its minimum asks for:
// those that are on such nodes first, then pods that need a place. Wherever plans place these, the minimum is kept;
// the others are free. Pods on spot nodes stay where they are, though their workload has too few of the others.
func onDemandPods(s *cluster.Snapshot) *cluster.Snapshot {
	if !asksForOnDemand(s) {
		return s
	}
	out := *s
	out.Waiting, out.Nodes = slices.Clone(s.Waiting), slices.Clone(s.Nodes)
	pins := pins{shapes: map[*cluster.Shape]*cluster.Shape{}, lists: map[string]bool{}}
	for _, w := range workloadsOf(&out) {
		w.pin(&out, &pins)
	}
	return &out
}

func asksForOnDemand(s *cluster.Snapshot) bool {
	if anyAsks(s.Waiting) {
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
	pods []ofWorkload
}

// ofWorkload is a pod of a workload.
type ofWorkload struct {
	node, at int // of the pod; node -1: it waits
	turn     turn
}

// turn is in which order pods of a workload are to be on demand, the lowest first.
type turn int

const (
	onDemandNode turn = iota // it is on one
	comingOnOne              // one is launched for it
	anywhere                 // it needs a place
	comingOnSpot             // an instance is launched for it that may be a spot instance
	stays                    // it is on a spot node
)

// workloadsOf lists the workloads with a minimum, in the order of their first pods.
func workloadsOf(s *cluster.Snapshot) []*workload {
	known, out := map[[2]string]*workload{}, []*workload(nil)
	add := func(p *cluster.Pod, x ofWorkload) {
		if !p.Shape.OnDemand.Any() || p.Ending || p.Daemon || p.Mirror || p.Shape.Virtual {
			return
		}
		id := [2]string{p.Namespace, cmp.Or(p.Owner, "Pod/"+p.Name)}
		if known[id] == nil {
			known[id] = &workload{}
			out = append(out, known[id])
		}
		known[id].pods = append(known[id].pods, x)
	}
	coming := turnsOfLaunches(s)
	for i := range s.Waiting {
		t, launched := coming[s.Waiting[i].UID]
		if !launched {
			t = anywhere
		}
		add(&s.Waiting[i], ofWorkload{-1, i, t})
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
			add(&n.Pods[j], ofWorkload{i, j, t})
		}
	}
	return out
}

// turnsOfLaunches is the turns of pods that instances are launched for, by UID.
func turnsOfLaunches(s *cluster.Snapshot) map[string]turn {
	out := map[string]turn{}
	for i := range s.Instances {
		m := &s.Instances[i]
		t := comingOnOne
		if m.MayBeSpot() {
			t = comingOnSpot
		}
		for j := range m.LaunchedFor {
			out[m.LaunchedFor[j].UID] = t
		}
	}
	return out
}

// pins makes pods want on-demand nodes.
type pins struct {
	shapes map[*cluster.Shape]*cluster.Shape // by those that pods have
	lists  map[string]bool                   // by node: its list of pods is its own
}

// pin has as many pods want on-demand nodes as the minimum asks for. Where pods of the workload ask for different
// ones, as they may during a rollout, the largest counts.
func (w *workload) pin(s *cluster.Snapshot, to *pins) {
	slices.SortStableFunc(w.pods, func(a, b ofWorkload) int { return cmp.Compare(a.turn, b.turn) })
	least := int64(0)
	for _, x := range w.pods {
		least = max(least, x.of(s).Shape.OnDemand.Of(int64(len(w.pods))))
	}
	for _, x := range w.pods[:least] {
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
	if x.node < 0 {
		return &s.Waiting[x.at]
	}
	return &s.Nodes[x.node].Pods[x.at]
}

// pinned is the shape with on-demand nodes wanted.
func (to *pins) pinned(shape *cluster.Shape) *cluster.Shape {
	out := to.shapes[shape]
	if out == nil {
		lasting := constraint.Requirement{Key: cluster.LabelCapacityType,
			Set: constraint.Values(string(cluster.OnDemand), string(cluster.Reserved))}
		own := *shape
		own.NodeTerms = nil
		for _, t := range shape.NodeTerms {
			own.NodeTerms = append(own.NodeTerms, t.And(lasting))
		}
		if len(own.NodeTerms) == 0 {
			own.NodeTerms = []constraint.Requirements{constraint.NewRequirements(lasting)}
		}
		out, to.shapes[shape] = &own, &own
	}
	return out
}
