package decide

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
)

// split divides among wishers what their pods cost. An instance that is launched is divided among
// its pods; of one that is there, or on its way, pods cost as much of the price as they take of
// what they take most of.
func (w *weighing) split(r *place.Result) []share {
	out := make([]share, len(w.wishers))
	of := w.owners()
	for i := range r.Launches {
		l := &r.Launches[i]
		all := make([]int64, w.dims.Len())
		for j := range l.Pods {
			for d, v := range w.dims.Need(l.Pods[j].Shape) {
				all[d] += v
			}
		}
		sum := 0.0
		for j := range l.Pods {
			sum += most(w.dims.Need(l.Pods[j].Shape), all)
		}
		for j := range l.Pods {
			if sum > 0 {
				out[of[l.Pods[j].Shape]].paid += float64(float64(l.Choice.Cost()) * (most(w.dims.Need(l.Pods[j].Shape), all) / sum))
			}
		}
	}
	there := w.rooms()
	for i := range r.Placements {
		p := &r.Placements[i]
		if room, known := there[target{p.On, p.Target}]; known {
			out[of[p.Pod.Shape]].room += float64(room.price * min(1, most(w.dims.Need(p.Pod.Shape), room.has)))
		}
	}
	return out
}

// owners finds the wisher of each shape.
func (w *weighing) owners() map[*cluster.Shape]int {
	out := map[*cluster.Shape]int{}
	for i, x := range w.wishers {
		for j := range x.pods {
			out[x.pods[j].Shape] = i
		}
	}
	return out
}

// target names a place of a plan.
type target struct {
	on   plan.Destination
	name string
}

// room is what a place has and costs an hour, in millionths of a dollar; 0 where
// that is not known.
type room struct {
	has   []int64
	price float64
}

// rooms lists what is there or on its way.
func (w *weighing) rooms() map[target]room {
	out := map[target]room{}
	for i := range w.s.Nodes {
		n := &w.s.Nodes[i]
		out[target{plan.OnNode, n.Name}] = room{w.dims.Vector(n.Allocatable, n.Attachable), float64(nodeCost(w.s, n))}
	}
	for i := range w.s.Instances {
		m := &w.s.Instances[i]
		out[target{plan.OnInstance, m.Claim}] = room{w.dims.Vector(m.Allocatable, m.Attachable), float64(priceOf(w.s, m))}
	}
	return out
}

// most is the largest part of all that the need is in any resource.
func most(need, all []int64) float64 {
	out := 0.0
	for d, v := range need {
		if v > 0 && all[d] > 0 {
			out = max(out, float64(v)/float64(all[d]))
		}
	}
	return out
}
