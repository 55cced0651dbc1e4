package place

import (
	"slices"

	"github.com/daemok/daemok/core/plan"
)

// question is what a run has beside when it is one of many about a snapshot.
type question struct {
	Question
	evaluator *evaluator
}

// spotCrowd is how many pods of a workload are on a spot node.
type spotCrowd struct {
	node, pods int
	pool       spotPool
}

// crowdsThere counts pods of the workloads that have pods on launches, on spot
// nodes that stay.
func (q *question) crowdsThere(r *run, out *crowds) {
	d := q.evaluator
	if d.crowds == nil {
		d.crowds = map[workload][]spotCrowd{}
		for i := range r.snapshot.Nodes {
			n := &r.snapshot.Nodes[i]
			if !isSpot(n) || n.Goes() {
				continue
			}
			for w, pods := range ofWorkloads(n.Pods) {
				d.crowds[w] = append(d.crowds[w], spotCrowd{i, pods, spotPoolOfNode(n)})
			}
		}
	}
	seen := map[workload]bool{}
	for i := range r.provisioner.Launches {
		for w := range ofWorkloads(r.provisioner.Launches[i].Pods) {
			if seen[w] {
				continue
			}
			seen[w] = true
			for _, c := range d.crowds[w] {
				if slices.Contains(q.Leave, c.node) && r.goes(c.node) {
					continue
				}
				out.put(map[workload]int{w: c.pods}, c.pool)
				out.count(map[workload]int{w: c.pods})
			}
		}
	}
}

// goes reports whether the node would go if it were to leave.
func (r *run) goes(node int) bool {
	n := r.snapshot.Nodes[node]
	n.Deleting = true
	return n.Goes()
}

// lost lists the pods that the search ended for.
func (a *asked) unplaced() []plan.Unplaced {
	u := plan.Unplaced{Shape: a.lost.Shape}
	for _, w := range a.lost.Pods[a.lost.Placed:] {
		u.Pods = append(u.Pods, *w.Pod)
	}
	return []plan.Unplaced{u}
}
