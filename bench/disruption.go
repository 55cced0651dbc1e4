package bench

import (
	"cmp"
	"errors"
	"fmt"
	"math/rand/v2"
	"runtime"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// DisruptionOptions says which cluster to search for nodes that may go.
type DisruptionOptions struct {
	Catalog     string // file; empty for the 400 made-up types
	Nodes       int
	PodsPerNode int
	Pools       int
	Scenario    string // steady or half
	Capacity    string // on-demand, spot or any; empty means on-demand
	Seed        uint64
	Runs        int // the median is taken; 0 means 3
}

// Scenarios are what DisruptionOptions.Scenario may be: a cluster in which no move
// is left to make, and one half of whose pods have gone.
func Scenarios() []string { return []string{"half", "steady"} }

// Disrupted is what the removal of nodes took and came to.
type Disrupted struct {
	Scenario          string   `json:"scenario"`
	Nodes             int      `json:"nodes"`
	Pods              int      `json:"pods"`
	Seconds           float64  `json:"seconds"` // of the first pass over all nodes
	CPUSeconds        float64  `json:"cpuSeconds"`
	Simulating        int      `json:"settling"`           // passes before that, until no move was left in the cluster as it was made
	SimulatingCPUMost float64  `json:"settlingCPUSeconds"` // of the one of these that took longest
	Candidates        int      `json:"candidates"`         // nodes that the pass found a reason to go or to stay for
	Passes            int      `json:"passes"`             // until no move was left
	Changed           float64  `json:"changedCPUSeconds"`  // of a pass after one pod has come or gone; 0: some move was left to make
	Round             float64  `json:"roundCPUSeconds"`    // of a plan without such a pass, as pods wait for, after the same change
	Commands          int      `json:"commands"`
	Moves             int      `json:"moves"` // pods that had to run elsewhere, all passes together
	NodesAfter        int      `json:"nodesAfter"`
	CostBefore        float64  `json:"costBefore"`
	CostAfter         float64  `json:"costAfter"`
	LowerBoundPerHour float64  `json:"lowerBoundPerHour"`
	Gap               *float64 `json:"gap"`
	AllocatedMiB      float64  `json:"allocatedMiB"`
	PeakRSSMiB        float64  `json:"peakRSSMiB"`
}

// passesMost bounds how often a cluster is checked again; more would mean that it never
// comes to rest.
const passesMost = 50

// Disruption measures a pass over a cluster, and what all passes together come to
// when each is carried out as planned, an hour apart.
func Disruption(o DisruptionOptions) (Disrupted, error) {
	w, err := stableCluster(o)
	if err != nil {
		return Disrupted{}, err
	}
	if o.Scenario == "half" {
		w.halve()
	}
	out := Disrupted{Scenario: o.Scenario, Nodes: len(w.Nodes), CostBefore: w.cost(), Simulating: len(w.simulating), SimulatingCPUMost: slices.Max(w.simulating)}
	for i := range w.Nodes {
		out.Pods += len(w.Nodes[i].Pods)
	}
	runs := max(1, o.Runs)
	if o.Runs == 0 {
		runs = 3
	}
	first, took := repeat(runs, func() plan.Plan { return w.look() })
	out.Seconds, out.CPUSeconds = median(took.seconds), median(took.cpuSeconds)
	out.AllocatedMiB, out.PeakRSSMiB = median(took.allocatedMiB), took.peakRSSMiB
	out.Candidates = len(first.Kept) + len(first.Removals())
	if len(first.Moves) == 0 {
		out.Changed, out.Round = w.changes(max(runs, changesLeast))
	}
	for made := first; len(made.Moves) > 0; made = w.look() {
		if out.Passes++; out.Passes > passesMost {
			return out, fmt.Errorf("the cluster does not come to rest: %d passes, and the next one moves\n%s", passesMost, made.String())
		}
		out.Commands += len(made.Moves)
		for _, r := range made.Removals() {
			out.Moves += len(r.Pods)
		}
		if err := w.carryOut(&made); err != nil {
			return out, err
		}
	}
	out.CostAfter, out.NodesAfter = w.cost(), len(w.Nodes)
	out.LowerBoundPerHour = LowerBound(w.afresh())
	out.Gap = gap(out.CostAfter, out.LowerBoundPerHour)
	return out, nil
}

// town is a cluster whose plans are carried out as they are.
type town struct {
	*cluster.Snapshot
	r          *rand.Rand
	named      int
	simulating []float64 // cpu seconds of each pass until it was stable
}

// stableCluster is a cluster in which no move is left to make, with as many
// nodes as asked for before that.
func stableCluster(o DisruptionOptions) (*town, error) {
	s, _, err := Snapshot(Options{Catalog: o.Catalog, Generate: "realistic", Pods: o.Nodes * o.PodsPerNode, Classes: o.Nodes, Pools: o.Pools,
		Seed: o.Seed, Capacity: o.Capacity})
	if err != nil {
		return nil, err
	}
	w := &town{Snapshot: s, r: rand.New(rand.NewPCG(o.Seed, 1))}
	s.Now = time.Date(2026, 11, 21, 0, 0, 0, 0, time.UTC)
	for i := range s.Pools {
		open := cluster.Allowance{Most: 1 << 40, Note: "budgets are open"}
		s.Pools[i].Policy = cluster.Policy{Empty: open, Drifted: open, Underutilized: open}
	}
	w.r.Shuffle(len(s.Waiting), func(i, j int) { s.Waiting[i], s.Waiting[j] = s.Waiting[j], s.Waiting[i] })
	for group := range slices.Chunk(s.Waiting, o.PodsPerNode) {
		if err := w.add(group); err != nil {
			return nil, err
		}
	}
	s.Waiting = nil
	s.Sort()
	for {
		cpu := CPUSeconds()
		made := w.look()
		w.simulating = append(w.simulating, CPUSeconds()-cpu)
		if len(made.Moves) == 0 {
			return w, nil
		}
		if err := w.carryOut(&made); err != nil {
			return nil, err
		}
	}
}

// add adds a node for the pods, or two for half of them each where no type holds
// them all: pools take turns.
func (w *town) add(pods []cluster.Pod) error {
	pool := &w.Pools[len(w.Nodes)%len(w.Pools)]
	choice, err := CheapestFor(pool, pods)
	switch {
	case err == nil:
		w.Nodes = append(w.Nodes, w.node(pool, choice, pods))
		return nil
	case len(pods) == 1:
		return err
	}
	half := len(pods) / 2
	return errors.Join(w.add(pods[:half]), w.add(pods[half:]))
}

// CheapestFor is the cheapest offering of a pool that holds the pods, of which there is at least one.
func CheapestFor(pool *cluster.Pool, pods []cluster.Pod) (best plan.Choice, err error) {
	need := SumOf(pods)
	for k := range pool.Catalogue.InstanceTypes {
		instanceType := &pool.Catalogue.InstanceTypes[k]
		for i := range instanceType.Offerings {
			o := &instanceType.Offerings[i]
			if need.FitsIn(instanceType.Allocatable) && o.Priced && pool.Requirements.Get(cluster.LabelCapacityType).Allows(string(o.Option)) &&
				(best.Kind == "" || o.Price < best.Price) {
				best = plan.Choice{Kind: instanceType.Name, Zone: o.Zone, Option: o.Option, Price: o.Price, Priced: true}
			}
		}
	}
	if best.Kind == "" {
		return best, fmt.Errorf("no type holds pod %s/%s", pods[0].Namespace, pods[0].Name)
	}
	return best, nil
}

// SumOf is what pods request together.
func SumOf(pods []cluster.Pod) (out quantity.Resources) {
	for i := range pods {
		out = out.Add(pods[i].Shape.Requests)
	}
	return out
}

// node is one that has been there for two days.
func (w *town) node(pool *cluster.Pool, c plan.Choice, pods []cluster.Pod) cluster.Node {
	w.named++
	name := fmt.Sprintf("node-%05d", w.named)
	at := slices.IndexFunc(pool.Catalogue.InstanceTypes, func(k cluster.InstanceType) bool { return k.Name == c.Kind })
	instanceType := &pool.Catalogue.InstanceTypes[at]
	labels := map[string]string{cluster.LabelHostname: name, cluster.LabelZone: c.Zone, cluster.LabelCapacityType: string(c.Option)}
	for _, list := range []constraint.Labels{instanceType.Labels, pool.Labels} {
		for _, l := range list {
			labels[l.Key] = l.Value
		}
	}
	born := w.Now.Add(-48 * time.Hour)
	out := cluster.Node{Name: name, Claim: name, Pool: pool.ID, Labels: constraint.NewLabels(labels), Capacity: instanceType.Capacity, Allocatable: instanceType.Allocatable,
		Attachable: instanceType.Attachable, Price: c.Price, CreatedAt: born, QuietSince: born, Ready: true, Initialized: true}
	for _, p := range pods {
		out.Pods = append(out.Pods, runs(p, name, born))
	}
	return out
}

func runs(p cluster.Pod, node string, since time.Time) cluster.Pod {
	p.Node, p.Returns, p.StartedAt = node, true, since
	return p
}

// halve takes every second pod away, by chance.
func (w *town) halve() {
	w.Nodes = slices.Clone(w.Nodes)
	for i := range w.Nodes {
		n := &w.Nodes[i]
		n.Pods = slices.DeleteFunc(slices.Clone(n.Pods), func(cluster.Pod) bool { return w.r.IntN(2) == 0 })
	}
}

// look makes the plan for the cluster as it is.
func (w *town) look() plan.Plan {
	effort := decide.Usual(w.Snapshot)
	return decide.Decide(w.Snapshot, decide.Policy{}, effort)
}

// changesLeast is how often a pod is changed at least.
const changesLeast = 10

// changes takes a pod away and brings it back, so many times, by chance. It returns
// the median of the cpu seconds of the searches after that, and of plans without one.
func (w *town) changes(times int) (search, round float64) {
	var searches, rounds []float64
	timed := func(s *cluster.Snapshot, effort decide.Effort) float64 {
		runtime.GC()
		cpu := CPUSeconds()
		decide.Decide(s, decide.Policy{}, effort)
		return CPUSeconds() - cpu
	}
	for range times {
		less, at := *w.Snapshot, w.r.IntN(len(w.Nodes))
		less.Nodes = slices.Clone(less.Nodes)
		n := &less.Nodes[at]
		if len(n.Pods) == 0 {
			continue
		}
		gone := w.r.IntN(len(n.Pods))
		n.Pods = slices.Delete(slices.Clone(n.Pods), gone, gone+1)
		for _, s := range []*cluster.Snapshot{&less, w.Snapshot} {
			effort := decide.Usual(s)
			searches = append(searches, timed(s, effort))
			effort.Disruption = 0
			rounds = append(rounds, timed(s, effort))
		}
	}
	return median(searches), median(rounds)
}

// carryOut does what the plan says, and lets an hour pass.
func (w *town) carryOut(p *plan.Plan) error {
	gone := map[string]bool{}
	for _, r := range p.Removals() {
		gone[r.Node] = true
	}
	next := *w.Snapshot
	next.Now = w.Now.Add(time.Hour)
	next.Nodes = nil
	for _, n := range w.Nodes {
		if !gone[n.Name] {
			next.Nodes = append(next.Nodes, n)
		}
	}
	at := map[string]int{}
	for i := range next.Nodes {
		at[next.Nodes[i].Name] = i
	}
	w.Snapshot = &next
	for i := range p.Moves {
		m := &p.Moves[i]
		for l := range m.Launches {
			pool, _ := next.Pool(m.Launches[l].Pool)
			at[m.Launches[l].Name] = len(next.Nodes)
			next.Nodes = append(next.Nodes, w.node(pool, m.Launches[l].Choice, nil))
		}
		for _, x := range m.Placements {
			to, there := at[x.Target]
			if !there {
				return fmt.Errorf("pod %s/%s is to go to %s, which is not there", x.Pod.Namespace, x.Pod.Name, x.Target)
			}
			n := &next.Nodes[to]
			n.Pods = append(slices.Clip(n.Pods), runs(x.Pod, n.Name, next.Now.Add(-24*time.Hour)))
		}
	}
	next.Sort()
	return w.check()
}

// check counts for itself whether every node holds what is on it.
func (w *town) check() error {
	for i := range w.Nodes {
		n := &w.Nodes[i]
		if sum := SumOf(n.Pods); !sum.FitsIn(n.Allocatable) {
			return fmt.Errorf("node %s has %s, and its pods ask for %s", n.Name, n.Allocatable, sum)
		}
	}
	return nil
}

func (w *town) cost() float64 {
	var sum quantity.MicroUSDPerHour
	for i := range w.Nodes {
		sum += w.Nodes[i].Price
	}
	return dollars(sum)
}

// afresh is the same work with all pods waiting and no node, for bounds.
func (w *town) afresh() *cluster.Snapshot {
	out := *w.Snapshot
	out.Waiting, out.Nodes = nil, nil
	for i := range w.Nodes {
		out.Waiting = append(out.Waiting, w.Nodes[i].Pods...)
	}
	slices.SortFunc(out.Waiting, func(a, b cluster.Pod) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	for i := range out.Waiting {
		out.Waiting[i].Node = ""
	}
	return &out
}
