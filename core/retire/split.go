package retire

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
)

// part is some of the nodes that were asked about together, with what of the
// answer is theirs.
type part struct {
	nodes  []*candidate
	answer *place.Result
}

// split divides an answer into parts of which no new machine takes pods of two.
// As far as their pods have no rules about each other, each can be carried out,
// and fail, by itself.
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

// take lets the nodes of parts go as far as that is worth it. Where pods have
// rules about each other, a part may be possible only once all others are gone,
// and none would ever be, since nodes count until their last pod has left: each
// is asked about once more, after those before it.
func (x *consolidator) take(parts []part, q place.Question) bool {
	all := true
	for i, p := range parts {
		if len(parts) > 1 && slices.ContainsFunc(parts, part.ruled) {
			if p.answer = x.again(p.nodes, parts[i:], q); no(p.answer) {
				note(p.nodes, "its pods have a place only once other nodes are gone as well")
				all = false
				continue
			}
		}
		all = x.accept(p, q.Wishes) && all
	}
	return all
}

// ruled reports whether pods of the part have rules about other pods.
func (p part) ruled() bool {
	ruled := func(pod *cluster.Pod) bool { return len(pod.Shape.Spread)+len(pod.Shape.Neighbours) > 0 }
	return slices.ContainsFunc(p.nodes, func(c *candidate) bool { return slices.ContainsFunc(c.moving, ruled) })
}

// again asks the question about some of its nodes. Their pods go to none of the
// parts.
func (x *consolidator) again(nodes []*candidate, parts []part, q place.Question) *place.Result {
	q.Leave, q.Open = positions(nodes), q.Open.Clone()
	for _, p := range parts {
		for _, c := range p.nodes {
			q.Open.Remove(c.at)
		}
	}
	if q.Below != 0 {
		q.Below = costOf(nodes) - 1
	}
	return x.ask(q)
}
