package place

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/parallel"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// Ground is a snapshot prepared for many questions of one form: if some nodes were removed, where would their pods go,
// and what would have to be launched for them? It answers as Place does for a snapshot in which these nodes are deleted,
// in a time that depends on the size of the answer. It is safe for concurrent use: an answer depends only on the
// question.
type Ground struct {
	snapshot   *cluster.Snapshot // with what is taken in its place
	launches   []plan.Launch     // of the plan
	taken      []plan.Placement  // on instances being launched
	moves      []move            // that were taken since
	options    Options
	evaluators parallel.Spare[*evaluator]
}

// Taken is what a plan intends for waiting pods. It is no longer free, and rules count it. Other pods may not go to its
// launches.
type Taken struct {
	Launches   []plan.Launch
	Placements []plan.Placement
}

// Question is which nodes leave, and what their pods may have instead.
type Question struct {
	Leave []int // positions in Snapshot.Nodes; those that are being deleted already are ignored
	// Open is which other nodes may take pods, by position, of those that are initialized, ready and stay; nil:
	// all. A question takes less time the less Open differs from that of the question before.
	Open bitset.Set
	// Below is what instances for the pods may cost together at most. 0: none may be launched, and the answer is no
	// where Place would launch one although there is room, such as in a zone without a node. Negative: any may.
	Below quantity.MicroUSDPerHour
	Freed bool // limits of pools count the nodes that leave as gone already
	// Preferences says which preferences of pods of a shape count, of those that do by the
	// options, the same for shapes with equal RulesText; nil: all.
	Preferences func(*cluster.Shape) demand.Preferences
	Why         bool // the answer gives reasons; it takes far longer then, where pods find no place
}

// Any is for Question.Below: whatever instances cost.
const Any = quantity.MicroUSDPerHour(-1)

// Survey prepares a snapshot for questions. Waiting pods without a place in taken are ignored, and of the options the
// Packer and the Variants.
//
// Cost: about that of Place for one pod of each shape that runs, once for each
// processor that asks.
func Survey(s *cluster.Snapshot, taken Taken, o Options) *Ground {
	o.Packer, o.Variants, o.Questions = nil, nil, true
	g := &Ground{options: o, launches: taken.Launches}
	g.snapshot, g.taken = withTaken(s, taken)
	g.evaluators.Give(newEvaluator(g))
	return g
}

// Ask finds places for those pods of the nodes that leave which a drain would move, on other nodes first. If it leaves
// pods, or instances for them are too expensive, the nodes must stay. Unplaced then has some pods without a place, but
// not all, since the search ends as soon as the answer is no. It has reasons only if they are asked for.
func (g *Ground) Ask(q Question) Result {
	d := g.evaluator()
	defer g.evaluators.Give(d)
	return d.ask(q)
}

// Hopeless reports quickly that the node can neither be removed nor be replaced by instances that cost less than the
// amount: some pods have room on no other node, and instances for these cost at least as much. If it returns false,
// only Ask can tell.
func (g *Ground) Hopeless(node int, below quantity.MicroUSDPerHour) bool {
	d := g.evaluator()
	defer g.evaluators.Give(d)
	return d.hopeless(node, below)
}

// Snapshot is the cluster with all that is taken: nodes that leave are being deleted, and instances of the plan and of
// answers are being launched. It must not be changed, and is valid until something else is taken.
func (g *Ground) Snapshot() *cluster.Snapshot { return g.snapshot }

// evaluator returns an unused evaluator, on which all moves are carried out.
func (g *Ground) evaluator() *evaluator {
	d, ok := g.evaluators.Take()
	if !ok {
		return newEvaluator(g)
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
		out.Instances, out.Pools = slices.Clone(s.Instances), slices.Clone(s.Pools)
		for i := range taken.Launches {
			out.Instances = append(out.Instances, inFlight(out.Pools, &taken.Launches[i], planned(taken.Launches[i].Name)))
		}
	}
	return &out, onInstances
}

// planned names an instance of the plan. No launch of an answer has such a name.
func planned(launch string) string { return launch + " of the plan" }

// inFlight returns the instance being launched that a launch leads to, and counts it among those of its pool.
func inFlight(pools []cluster.Pool, l *plan.Launch, name string) cluster.Instance {
	m := cluster.Instance{Claim: name, Pool: l.Pool, Labels: l.Labels, Requirements: l.Requirements, Planned: true}
	at := slices.IndexFunc(pools, func(p cluster.Pool) bool { return p.ID == l.Pool })
	if at < 0 {
		return m
	}
	p := &pools[at]
	m.Labels, m.Taints = p.Labels.Merge(l.Labels), p.Taints
	if p.Catalogue != nil {
		kinds := l.Requirements.Get(cluster.LabelInstanceType)
		for k := range p.Catalogue.InstanceTypes {
			if instanceType := &p.Catalogue.InstanceTypes[k]; kinds.Allows(instanceType.Name) {
				m.Capacity = m.Capacity.Max(instanceType.Capacity)
			}
		}
	}
	p.Usage, p.Nodes = p.Usage.Add(m.Capacity), p.Nodes+1
	return m
}
