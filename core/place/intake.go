package place

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
)

// group is the waiting pods of one shape.
type group struct {
	shape  *cluster.Shape
	pods   []cluster.Pod // oldest first; those before placed have a place
	placed int
	need   []int64
	at     int     // position in the order of placing
	home   int     // tier of the pools that it is bought from now
	best   float64 // highest yield of any option in these pools
	side   int     // the resource that most of its worth is in
}

func (g *group) left() int64 { return int64(len(g.pods) - g.placed) }

// next takes the oldest n pods without a place.
func (g *group) next(n int64) []cluster.Pod {
	out := g.pods[g.placed : g.placed+int(n)]
	g.placed += int(n)
	return out
}

// intake lists the pods that need a place: those waiting, and those that must
// leave a node which is going away. Pods that are ending or that may not be
// disturbed need none.
func intake(s *cluster.Snapshot) []cluster.Pod {
	out := slices.Clone(s.Waiting)
	for i := range s.Nodes {
		if !s.Nodes[i].Deleting {
			continue
		}
		for _, p := range s.Nodes[i].Pods {
			if p.Returns && !p.DoNotDisrupt {
				out = append(out, p)
			}
		}
	}
	return out
}

// groupByShape groups pods by shape, in the order of placing: high priority first,
// since capacity may be scarce; then large ones, which are the hardest to
// place; then those whose oldest pod is oldest.
func groupByShape(pods []cluster.Pod) []*group {
	byShape := map[*cluster.Shape]*group{}
	var out []*group
	for _, p := range pods {
		g := byShape[p.Shape]
		if g == nil {
			g = &group{shape: p.Shape}
			byShape[p.Shape] = g
			out = append(out, g)
		}
		g.pods = append(g.pods, p)
	}
	for _, g := range out {
		slices.SortStableFunc(g.pods, older)
	}
	slices.SortStableFunc(out, harder)
	for i, g := range out {
		g.at = i
	}
	return out
}

// harder puts the groups first that are harder to place: of high priority,
// large, choosy about nodes; then those that wait longest. What they contain is
// compared before the names of pods, so that new names change nothing.
func harder(a, b *group) int {
	x, y := a.shape, b.shape
	bySize := cmp.Or(
		cmp.Compare(y.Priority, x.Priority),
		cmp.Compare(y.Requests.CPU, x.Requests.CPU),
		cmp.Compare(y.Requests.Memory, x.Requests.Memory),
		cmp.Compare(rank(len(x.NodeTerms) > 0), rank(len(y.NodeTerms) > 0)),
		a.pods[0].CreatedAt.Compare(b.pods[0].CreatedAt))
	if bySize != 0 {
		return bySize
	}
	if byContent := cmp.Compare(content(x), content(y)); byContent != 0 {
		return byContent
	}
	return older(a.pods[0], b.pods[0])
}

// content is what else shapes of one size may differ in, as text.
func content(s *cluster.Shape) string {
	return fmt.Sprint(s.Requests, s.Namespace, s.NodeTerms, s.Tolerations, s.Unable)
}

func older(a, b cluster.Pod) int {
	return cmp.Or(a.CreatedAt.Compare(b.CreatedAt), cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
