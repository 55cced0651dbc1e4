package removal

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/parallel"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// Simulator answers many questions of one form about a snapshot: if some nodes were removed, where would their pods go,
// and what would have to be launched for them? It answers as Place does for a snapshot in which these nodes are deleted,
// in a time that depends on the size of the answer. It is safe for concurrent use: an answer depends only on the
// question.
type Simulator struct {
	snapshot   *cluster.Snapshot // with what is taken in its place
	launches   []plan.Launch     // of the plan
	taken      []plan.Placement  // on instances being launched
	moves      []move            // that were taken since
	options    place.Options
	evaluators parallel.Spare[*evaluator]
}

// Taken is what a plan intends for waiting pods. It is no longer free, and rules count it. Other pods may not go to its
// launches.
type Taken struct {
	Launches   []plan.Launch
	Placements []plan.Placement
}

// New returns a simulator, which is prepared at the first question. Waiting pods without a place in taken are ignored,
// and of the options the Packer and the Variants.
//
// Cost: about that of Place for one pod of each shape that runs, once for each
// processor that asks.
func New(s *cluster.Snapshot, taken Taken, o place.Options) *Simulator {
	o.Packer, o.Variants, o.Questions = nil, nil, true
	g := &Simulator{options: o, launches: taken.Launches}
	g.snapshot, g.taken = withTaken(s, taken)
	return g
}

// Ask finds places for those pods of the nodes that leave which a drain would move, on other nodes first. If it leaves
// pods, or instances for them are too expensive, the nodes must stay. Unplaced then has some pods without a place, but
// not all, since the search ends as soon as the answer is no. It has reasons only if they are asked for.
func (g *Simulator) Ask(q Question) place.Result {
	d := g.evaluator()
	defer g.evaluators.Give(d)
	return d.ask(q)
}

// Hopeless reports quickly that the node can neither be removed nor be replaced by instances that cost less than the
// amount: some pods have room on no other node, and instances for these cost at least as much. If it returns false,
// only Ask can tell.
func (g *Simulator) Hopeless(node int, below quantity.MicroUSDPerHour) bool {
	d := g.evaluator()
	defer g.evaluators.Give(d)
	return d.hopeless(node, below)
}

// Snapshot is the cluster with all that is taken: nodes that leave are being deleted, and instances of the plan and of
// answers are being launched. It must not be changed, and is valid until something else is taken.
func (g *Simulator) Snapshot() *cluster.Snapshot { return g.snapshot }

// Take makes an answer true: the nodes that leave are being deleted, and their pods are where the answer put them. Later
// answers are as those of a new simulator of that snapshot. It must not be called while questions are answered.
//
// Cost: far below that of New.
func (g *Simulator) Take(leave []int, a place.Result) {
	s := g.snapshot
	if len(g.moves) == 0 { // the first time, since others have them too
		s.Nodes, s.Instances = slices.Clone(s.Nodes), slices.Clone(s.Instances)
		s.Pools, s.Quotas = slices.Clone(s.Pools), slices.Clone(s.Quotas)
		g.launches, g.taken = slices.Clip(g.launches), slices.Clip(g.taken)
	}
	m := move{launches: a.Launches}
	for _, at := range leave {
		n := &s.Nodes[at]
		if n.Deleting || slices.Contains(m.leave, at) {
			continue
		}
		m.leave, m.before = append(m.leave, at), append(m.before, *n)
		n.Deleting = true
		n.Pods = slices.DeleteFunc(slices.Clone(n.Pods), func(p cluster.Pod) bool { return p.Moves() })
	}
	name := func(launch string) string { return fmt.Sprintf("%s of answer %d", launch, len(g.moves)+1) }
	for i := range a.Launches {
		m.instances = append(m.instances, a.Launches[i].InFlight(s, name(a.Launches[i].Name)))
	}
	for _, p := range a.Placements {
		if p.On == plan.OnLaunch {
			p.Target = name(p.Target)
			g.taken = append(g.taken, p)
		}
		m.placements = append(m.placements, p)
		if p.On != plan.OnNode {
			continue
		}
		at, _ := slices.BinarySearchFunc(s.Nodes, p.Target, func(n cluster.Node, name string) int { return cmp.Compare(n.Name, name) })
		s.Nodes[at].Pods = append(slices.Clip(s.Nodes[at].Pods), p.Pod.MovedTo(p.Target))
	}
	s.Instances, g.launches = append(s.Instances, m.instances...), append(g.launches, a.Launches...)
	g.moves = append(g.moves, m)
}

// evaluator returns an unused evaluator, on which all moves are carried out.
func (g *Simulator) evaluator() *evaluator {
	d, ok := g.evaluators.Take()
	if !ok {
		return newEvaluator(g.snapshot, g.launches, g.taken, g.options, len(g.moves))
	}
	for ; d.moves < len(g.moves); d.moves++ {
		d.carryOut(&g.moves[d.moves])
	}
	return d
}

// withTaken returns a snapshot with pods where the plan puts them and instances
// of the plan among those being launched, and the placements on instances.
func withTaken(s *cluster.Snapshot, taken Taken) (*cluster.Snapshot, []plan.Placement) {
	out := *s
	out.Waiting = nil
	var onInstances []plan.Placement
	onNode := map[string][]cluster.Pod{}
	for _, p := range taken.Placements {
		if p.On != plan.OnNode {
			if p.On == plan.OnLaunch {
				p.Target = planned(p.Target)
			}
			onInstances = append(onInstances, p)
			continue
		}
		onNode[p.Target] = append(onNode[p.Target], p.Pod.MovedTo(p.Target))
	}
	if len(onNode) > 0 {
		out.Nodes = slices.Clone(s.Nodes)
		for i := range out.Nodes {
			if more := onNode[out.Nodes[i].Name]; more != nil {
				out.Nodes[i].Pods = slices.Concat(out.Nodes[i].Pods, more)
			}
		}
	}
	if len(taken.Launches) > 0 {
		out.Instances, out.Pools, out.Quotas = slices.Clone(s.Instances), slices.Clone(s.Pools), slices.Clone(s.Quotas)
		for i := range taken.Launches {
			out.Instances = append(out.Instances, taken.Launches[i].InFlight(&out, planned(taken.Launches[i].Name)))
		}
	}
	return &out, onInstances
}

// planned names an instance of the plan. No launch of an answer has such a name.
func planned(launch string) string { return launch + " of the plan" }
