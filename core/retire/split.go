package retire

import (
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
)

// part is some of the nodes that were asked about together, with what of the
// answer is theirs.
type part struct {
	nodes  []*candidate
	answer *place.Result
}

// split divides an answer into parts that do not depend on each other: no new
// machine takes pods of nodes of two parts. Each can be carried out, and fail,
// by itself.
func split(nodes []*candidate, a *place.Result) []part {
	owner := map[[2]string]int{} // of a pod: position of its node
	for i, c := range nodes {
		for _, p := range c.moving {
			owner[[2]string{p.Namespace, p.Name}] = i
		}
	}
	together := make([]int, len(nodes)) // a forest: the first node of each part is its root
	for i := range together {
		together[i] = i
	}
	root := func(i int) int {
		for together[i] != i {
			i = together[i]
		}
		return i
	}
	for l := range a.Launches {
		pods := a.Launches[l].Pods
		for _, p := range pods {
			x, y := root(owner[[2]string{pods[0].Namespace, pods[0].Name}]), root(owner[[2]string{p.Namespace, p.Name}])
			together[max(x, y)] = min(x, y)
		}
	}
	var out []part
	at := map[int]int{} // by root: position in out
	for i, c := range nodes {
		r := root(i)
		if _, known := at[r]; !known {
			at[r] = len(out)
			out = append(out, part{answer: &place.Result{}})
		}
		out[at[r]].nodes = append(out[at[r]].nodes, c)
	}
	for l := range a.Launches {
		first := a.Launches[l].Pods[0]
		mine := out[at[root(owner[[2]string{first.Namespace, first.Name}])]].answer
		mine.Launches = append(mine.Launches, a.Launches[l])
	}
	for _, p := range a.Placements {
		i, known := owner[[2]string{p.Pod.Namespace, p.Pod.Name}]
		if known && (p.On == plan.OnNode || p.On == plan.OnLaunch) {
			mine := out[at[root(i)]].answer
			mine.Placements = append(mine.Placements, p)
		}
	}
	return out
}
