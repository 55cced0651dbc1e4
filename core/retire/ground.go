package retire

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/quantity"
)

// Ground answers what would become of the pods of nodes that go, as place.Ground
// does, and takes accepted answers in, so that what is asked next knows of them.
type Ground struct {
	snapshot *cluster.Snapshot
	taken    place.Taken
	options  place.Options
	now      *place.Ground // nil: to be made anew
}

// NewGround is one for a snapshot, where pods that wait go as a plan says.
func NewGround(s *cluster.Snapshot, taken place.Taken, o place.Options) *Ground {
	out := *s
	out.Nodes = slices.Clone(s.Nodes)
	taken.Launches, taken.Placements = slices.Clip(taken.Launches), slices.Clip(taken.Placements)
	return &Ground{snapshot: &out, taken: taken, options: o}
}

func (g *Ground) ask(q place.Question) *place.Result {
	answer := g.current().Ask(q)
	return &answer
}

func (g *Ground) hopeless(node int, below quantity.MicroUSDPerHour) bool {
	return g.current().Hopeless(node, below)
}

func (g *Ground) current() *place.Ground {
	if g.now == nil {
		g.now = place.Survey(g.snapshot, g.taken, g.options)
	}
	return g.now
}

// take lets nodes go, with their pods where the answer has them.
func (g *Ground) take(leave []int, a *place.Result) {
	for _, at := range leave {
		n := &g.snapshot.Nodes[at]
		n.Deleting = true
		n.Pods = slices.DeleteFunc(slices.Clone(n.Pods), func(p cluster.Pod) bool { return p.Moves() })
	}
	g.taken.Launches = append(g.taken.Launches, a.Launches...)
	g.taken.Placements = append(g.taken.Placements, a.Placements...)
	g.now = nil
}
