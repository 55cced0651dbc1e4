// Package forecast is the scheduling simulation: where kube-scheduler is likely to bind the pods of a
// plan.
//
// A plan says which instance each pod is meant for, but kube-scheduler does not know it:
// kube-scheduler takes pods in the order of its queue, and gives each the node that its default
// profile scores highest among those that exist at that moment. Play does the same with the instances
// of a plan, opened all at once or one after another, and reports which pods are left without a node.
//
// It promises equal outcomes for equal arguments, on every processor. core/feasibility and
// core/topology judge what pods require; scores follow the plugins NodeResourcesFit (LeastAllocated),
// NodeResourcesBalancedAllocation, PodTopologySpread with its built-in defaults, TaintToleration and
// NodeAffinity, and a pod's own preferred terms of InterPodAffinity. It leaves out images, what
// running pods prefer, the back-off of pods between two attempts, and the sampling of nodes in
// clusters of more than a hundred: an outcome is a likely one, and never an instruction.
package forecast

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/topology"
)

// World is the pods that wait and the nodes that are there, ready to be played with different
// instances. It is not safe for concurrent use.
type World struct {
	snapshot *cluster.Snapshot
	pools    map[cluster.PoolID]*feasibility.Pool
	dims     amount.Dims
	queue    []waiter
	kinds    []*kind
	nodes    []*spot // those that take pods
	models   []*model
	launches map[modelKey]*model // seen; nil: unknown
	ordered  []*spot
	named    bool // some pods ask for nodes by name
	board    *topology.Board
	counted  bool // some rule examines other pods
	counters []counter
	keys     []string // of counters
	byText   map[string]int
	logs     []float64
}

// waiter is one pod of the queue.
type waiter struct {
	*cluster.Pod
	kind     *kind
	sort     int    // equal for those that count alike everywhere
	defaults []soft // spreads that the scheduler adds by itself
}

// kind is what all pods of a shape have in common.
type kind struct {
	at      int
	rank    int // by content
	pods    int
	shape   *cluster.Shape
	need    []int64
	shared  []cluster.Volume
	scored  [2]int64 // cpu and memory, as LeastAllocated counts them
	rules   *topology.Rules
	softs   []soft
	seconds []preferred
	counts  []int // counters that count its pods
	follows bool  // there may be room for it once other pods are somewhere
}

// New prepares a world for the pods, which wait.
func New(s *cluster.Snapshot, pods []cluster.Pod) *World {
	return From(feasibility.Prepare(s), s, pods)
}

// From is New with what was prepared for the snapshot, or for another one with the same
// pools and daemons.
func From(ready *feasibility.Ready, s *cluster.Snapshot, pods []cluster.Pod) *World {
	if !ready.Knows(s) {
		ready = feasibility.Prepare(s)
	}
	w := &World{snapshot: s, dims: amount.Of(pods), pools: map[cluster.PoolID]*feasibility.Pool{},
		board: topology.NewBoard(), byText: map[string]int{}, launches: map[modelKey]*model{}}
	for i, p := range ready.ForPools() {
		w.pools[s.Pools[i].ID] = p
	}
	w.line(pods)
	w.setUp()
	return w
}

// line puts pods in the order of the scheduler's queue: priority, then age. Of
// the rest it is drawn; so that names change nothing, they come by content before,
// and by name only where that is equal.
func (w *World) line(pods []cluster.Pod) {
	known := map[*cluster.Shape]*kind{}
	type sort struct {
		shape *cluster.Shape
		owner string
	}
	sorts := map[sort]waiter{}
	for i := range pods {
		p := &pods[i]
		k := known[p.Shape]
		if k == nil {
			k = w.kindOf(p.Shape)
			known[p.Shape] = k
		}
		like, seen := sorts[sort{p.Shape, p.Owner}]
		if !seen {
			like = waiter{kind: k, sort: len(sorts), defaults: w.defaultsOf(p)}
			sorts[sort{p.Shape, p.Owner}] = like
		}
		like.Pod = p
		k.pods++
		w.queue = append(w.queue, like)
	}
	w.rank()
	slices.SortStableFunc(w.queue, func(a, b waiter) int {
		return cmp.Or(
			cmp.Compare(b.Shape.Priority, a.Shape.Priority),
			a.CreatedAt.Compare(b.CreatedAt),
			cmp.Compare(a.kind.rank, b.kind.rank),
			cmp.Compare(a.Namespace, b.Namespace),
			cmp.Compare(a.Name, b.Name))
	})
	for _, k := range w.kinds {
		k.counts = w.countersOf(k.shape)
	}
}

// rank numbers the shapes of pods by content; those that differ in names alone get the same number.
func (w *World) rank() {
	text := map[*kind]string{}
	textOf := func(k *kind) string {
		if _, known := text[k]; !known {
			text[k] = preferences(k.shape)
		}
		return text[k]
	}
	compare := func(a, b *kind) int {
		if byNumbers := cmp.Or(slices.Compare(a.need, b.need), cmp.Compare(a.pods, b.pods)); byNumbers != 0 {
			return byNumbers
		}
		return cmp.Compare(textOf(a), textOf(b))
	}
	sorted := slices.SortedStableFunc(slices.Values(w.kinds), compare)
	for i, k := range sorted {
		if k.rank = i; i > 0 && compare(sorted[i-1], k) == 0 {
			k.rank = sorted[i-1].rank
		}
	}
}

// preferences is what pods of the shape ask for beside amounts, without the names that
// users give pods.
func preferences(s *cluster.Shape) string {
	var out strings.Builder
	fmt.Fprint(&out, s.NodeTerms, s.VolumeTerms, s.Tolerations, s.Ports, len(s.Volumes))
	for _, p := range s.Preferences {
		fmt.Fprint(&out, " prefers ", p.Weight, p.Term)
	}
	for _, x := range s.Spread {
		fmt.Fprint(&out, " spread ", x.Key, x.MaxSkew, x.MinDomains, x.Soft, x.IgnoreNodeTerms, x.HonourTaints, x.Among)
	}
	for _, n := range s.Neighbours {
		fmt.Fprint(&out, " neighbours ", n.Key, n.Apart, n.Weight, n.Volume)
	}
	return out.String()
}

func (w *World) kindOf(s *cluster.Shape) *kind {
	k := &kind{at: len(w.kinds), shape: s, need: w.dims.Need(s), shared: shared(s), scored: scored(s)}
	preference := topology.Preference{Shape: s}
	for i := range s.Spread {
		if !s.Spread[i].Soft {
			k.follows = true
			preference.Spread = append(preference.Spread, s.Spread[i])
		} else {
			k.softs = append(k.softs, w.soft(s, &s.Spread[i]))
		}
	}
	for i := range s.Neighbours {
		if n := &s.Neighbours[i]; n.Weight == 0 {
			k.follows = k.follows || !n.Apart
			preference.Neighbours = append(preference.Neighbours, *n)
		} else {
			k.seconds = append(k.seconds, w.preferred(n))
		}
	}
	k.rules = w.board.Rules(preference)
	w.named = w.named || asksByName(s)
	w.kinds = append(w.kinds, k)
	return k
}

// setUp places the nodes and what runs on them.
func (w *World) setUp() {
	running := map[*cluster.Shape]*topology.Rules{}
	for i := range w.snapshot.Nodes {
		for j := range w.snapshot.Nodes[i].Pods {
			if s := w.snapshot.Nodes[i].Pods[j].Shape; running[s] == nil {
				running[s] = w.board.Rules(topology.Preference{Shape: s})
			}
		}
	}
	w.counted = !w.board.Empty()
	var all []*spot
	for i := range w.snapshot.Nodes {
		n := &w.snapshot.Nodes[i]
		m := w.model(n, true)
		x := &m.spot
		x.model, x.counts = m, make([]int64, len(w.counters))
		x.place = w.board.AddPlace(n.Labels, feasibility.LastingTaints(n), n.Goes())
		all = append(all, x)
		if !n.Deleting {
			w.nodes = append(w.nodes, x)
		}
	}
	w.onOrder()
	w.board.Start()
	for i, x := range all {
		for j := range w.snapshot.Nodes[i].Pods {
			p := &w.snapshot.Nodes[i].Pods[j]
			if n := &w.snapshot.Nodes[i]; w.counted && !(n.Deleting && p.Moves()) {
				w.board.Put(running[p.Shape], x.place, 1, p.Ending)
			}
			for _, c := range w.countersFor(p) {
				x.counts[c]++
			}
		}
	}
}

// Opening is how the instances of a plan come: all at once, or one after another in an order that
// is drawn from the seed. Those that a plan holds back until others of their group are there, or
// have had their turn, do so then.
type Opening struct {
	Together bool
	Seed     uint64
	Most     int64 // steps, before it ends without being over; 0: no bound
}

// Outcome is where pods went.
type Outcome struct {
	Left  []cluster.Pod // without room, in the order of the queue
	On    map[string][]cluster.Pod
	Turns []Turn // which pod went where, in that order
	Steps int64  // examines one node for one pod, at equal ones together
	// Exhausted says that steps were used up: pods are left that were not tried.
	Exhausted bool

	world *World
	spots []*spot
}

// Turn is one pod that got a node.
type Turn struct {
	Pod  cluster.Pod
	Node string
}

// placedMeanwhile is how many pods the scheduler puts on nodes while the instances of one plan
// join: about fifty a second, by its usual limit of requests, for forty seconds.
const placedMeanwhile = 2000

// Simulate opens instances that were launched before and those that the plan launches, and lets
// pods go where kube-scheduler would put them.
func (w *World) Simulate(launches []plan.Launch, joining []plan.Joining, o Opening) Outcome {
	g := newGame(w, o)
	g.join(w.nodes)
	g.admit(w.nodes)
	g.fill(math.MaxInt)
	steps := g.order(w.instances(launches, joining))
	for i, step := range steps {
		g.join(step.joins)
		g.admit(step.opens)
		if i < len(steps)-1 {
			g.fill(placedMeanwhile / len(steps))
		}
	}
	g.fill(math.MaxInt)
	return g.outcome()
}

// AsPlanned counts the pods that are on an instance of the type that was planned for them.
func (o *Outcome) AsPlanned(placements []plan.Placement) int {
	types, planned, n := map[string]string{}, map[[2]string]string{}, 0
	for _, x := range o.spots {
		types[x.node.Name], _ = x.node.Labels.Get(cluster.LabelInstanceType)
	}
	for i := range placements {
		p := &placements[i]
		planned[[2]string{p.Pod.Namespace, p.Pod.Name}] = types[p.Target]
	}
	for on, pods := range o.On {
		for i := range pods {
			if planned[[2]string{pods[i].Namespace, pods[i].Name}] == types[on] {
				n++
			}
		}
	}
	return n
}

// After is the snapshot once the outcome has come about: instances are nodes, and the pods that are
// left wait.
func (o *Outcome) After() *cluster.Snapshot {
	out := *o.world.snapshot
	out.Instances, out.Waiting = nil, slices.Clone(o.Left)
	out.Nodes = nil
	for _, x := range o.spots {
		n := *x.node
		n.Pods = append(slices.Clone(n.Pods), o.On[n.Name]...)
		out.Nodes = append(out.Nodes, n)
	}
	out.Sort()
	return &out
}
