package place

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/provisioning"
	"github.com/daemok/daemok/core/scheduling"
	"github.com/daemok/daemok/core/supply"
	"github.com/daemok/daemok/core/topology"
)

// evaluator answers questions about a ground, one at a time. What is found out about shapes, targets and pools is kept
// for the next question if it is the same for every question; everything else is put back.
type evaluator struct {
	ground             *Ground
	run                *run
	places             []int                         // on the board, by node
	targets            []*scheduling.Target          // by node; nil where it has none
	byName             map[string]*scheduling.Target // of nodes
	nodeTargets        int                           // how many of the targets are nodes
	looked             []string                      // labels that rules look at
	moves              int                           // how many of the ground's moves are carried out here
	podClasses         map[*cluster.Shape]*evaluatorPodClass
	text               map[*cluster.Shape]string // see orderBy
	daemons            map[*cluster.Shape]*topology.Rules
	held               map[string]int // pods that use a volume for one pod at a time
	reservedCapacities map[string]int64
	pools              []supply.Saved
	known              scheduling.KnownTargets
	bulk               *wholesale
	reachables         map[*cluster.Shape]reachable
	twins              provisioning.Twins
	filled             []*scheduling.Target // targets that something was placed on since they were put in order
	open               bitset.Set           // nodes that pods of the last question could go to
}

// evaluatorPodClass is a pod class with what its levels ask for on the board of the evaluator.
type evaluatorPodClass struct {
	*demand.PodClass
	need  []int64 // of the shape that it is looked up by
	rules map[*demand.Level]*topology.Rules
}

func newEvaluator(g *Ground) *evaluator {
	s := g.snapshot
	r := newRun(s, movers(s, g.taken), g.options)
	takeFor(r, g.launches)
	d := &evaluator{
		ground: g, run: r, looked: r.Values.Labels, moves: len(g.moves), daemons: r.Values.Daemons, reservedCapacities: r.Provisioner.Reserved.Left,
		podClasses: map[*cluster.Shape]*evaluatorPodClass{}, text: map[*cluster.Shape]string{}, held: map[string]int{},
		known: scheduling.KnownTargets{ByDomain: map[string][]*scheduling.DomainTargets{}, Board: r.Board}, reachables: map[*cluster.Shape]reachable{}, twins: provisioning.Twins{Spare: map[*cluster.Shape]bitset.Set{}},
	}
	for _, w := range r.Waiting {
		k := &evaluatorPodClass{PodClass: w.PodClass, need: w.Need, rules: map[*demand.Level]*topology.Rules{}}
		for _, levels := range w.PodClass.ByPreferences {
			for _, lv := range levels {
				k.rules[lv] = lv.Rules
			}
		}
		d.podClasses[w.Shape] = k
	}
	for _, k := range d.podClasses {
		k.Groups = nil
	}
	d.recordNodes(s)
	d.recordTaken(g.taken)
	d.open = bitset.Full(len(s.Nodes))
	d.recordPools()
	setTwins(r.Candidates)
	d.arrange()
	r.Clear()
	return d
}

// takeFor accounts for reserved capacity that instances of the plan use.
func takeFor(r *run, launches []plan.Launch) {
	for i := range launches {
		at := slices.IndexFunc(r.Candidates, func(b *supply.Candidate) bool { return b.ID == launches[i].Pool })
		if at < 0 || r.Provisioner.Reserved.Left == nil {
			continue
		}
		if o := launches[i].Offering(r.Candidates[at].Catalogue); o != nil && r.Provisioner.Reserved.Of(o) > 0 {
			r.Provisioner.Reserved.Take(o.ReservedCapacities)
		}
	}
}

// movers returns a pod of each shape that may have to move, or that has a place on an instance being launched.
func movers(s *cluster.Snapshot, taken []plan.Placement) []cluster.Pod {
	var out []cluster.Pod
	seen := map[*cluster.Shape]bool{}
	add := func(p *cluster.Pod) {
		if !seen[p.Shape] {
			seen[p.Shape] = true
			out = append(out, *p)
		}
	}
	for i := range s.Nodes {
		for j := range s.Nodes[i].Pods {
			if p := &s.Nodes[i].Pods[j]; p.Moves() {
				add(p)
			}
		}
	}
	for i := range taken {
		add(&taken[i].Pod)
	}
	return out
}

// recordNodes finds the targets and places of nodes. It closes the targets that may take no pods of other nodes, for
// every question: instances, and nodes that are not initialized or not ready.
func (d *evaluator) recordNodes(s *cluster.Snapshot) {
	d.byName = map[string]*scheduling.Target{}
	for _, target := range d.run.Targets {
		target.Closed = true
		if target.On == plan.OnNode {
			d.byName[target.Name] = target
		}
	}
	d.nodeTargets = len(d.byName)
	d.targets, d.places = make([]*scheduling.Target, len(s.Nodes)), make([]int, len(s.Nodes))
	for i := range s.Nodes {
		n := &s.Nodes[i]
		d.places[i] = i // as setUpBoard adds them
		at, known := d.byName[n.Name]
		d.targets[i] = at
		if known && n.Initialized && n.Ready {
			at.Closed = false
		}
		for j := range n.Pods {
			if p := &n.Pods[j]; !n.Deleting || !p.Moves() {
				d.hold(p.Shape, 1)
			}
		}
	}
	for _, target := range d.run.Targets {
		target.ShutForGood = target.Closed
	}
}

func (d *evaluator) hold(s *cluster.Shape, n int) {
	for _, v := range s.Volumes {
		if v.Exclusive && v.Claim != "" {
			d.held[v.Claim] += n
		}
	}
}

// recordTaken counts pods that are expected on instances being launched.
func (d *evaluator) recordTaken(list []plan.Placement) {
	if len(list) == 0 {
		return
	}
	places := map[string]int{}
	for _, target := range d.run.Targets {
		if target.On == plan.OnInstance {
			places[target.Name] = target.Place
		}
	}
	for i := range list {
		d.bind(d.run, &list[i], places)
	}
}

// begin makes a run for the question.
func (d *evaluator) begin(q Question) *run {
	asked := &scheduling.Asked{LaunchNone: q.Below == 0, Why: q.Why, Known: &d.known}
	r := d.run.Next(asked, &d.twins, q.Leave)
	if d.reservedCapacities != nil {
		r.Provisioner.Reserved.Left = map[string]int64{}
		for name, left := range d.reservedCapacities {
			r.Provisioner.Reserved.Left[name] = left
		}
	}
	for i, b := range r.Candidates {
		b.Restore(&d.pools[i])
	}
	if q.Freed {
		for _, at := range q.Leave {
			free(r, &d.ground.snapshot.Nodes[at])
		}
	}
	d.run = r
	return r
}

// free gives the limits of its pool back what a node used that is gone before anything is launched.
func free(r *run, n *cluster.Node) {
	for _, b := range r.Candidates {
		if b.ID == n.Pool && b.Remaining != nil {
			b.Remaining.GiveBack(n.Capacity)
			b.Narrow()
		}
	}
}

// ask answers one question.
func (d *evaluator) ask(q Question) Result {
	r := d.begin(q)
	leaving, pods := d.leavers(q)
	if len(pods) == 0 {
		return Result{}
	}
	r.Wait(pods)
	d.lookFrom(r, q.Preferences, leaving)
	for _, g := range r.Waiting {
		g.Need = d.podClasses[g.Shape].need
	}
	r.Order(d.text)
	d.close(q, leaving)
	if r.Open(); !r.Effort.Known {
		d.endEarly(q)
	}
	r.Proceed()
	explained := d.ground.snapshot
	if q.Why {
		explained = d.asLeft(leaving)
	}
	out := r.FinishIn(explained)
	out.Expensive = r.Effort.Known || r.Asked.Launches && len(out.Unplaced) == 0 || out.Expensive || q.Below >= 0 && (out.Cost-out.Risk > float64(q.Below) || out.Unpriced > 0)
	d.putBack(q, leaving)
	return out
}

// leavers returns the nodes that leave, and their pods that need another place.
func (d *evaluator) leavers(q Question) (nodes []int, pods []*cluster.Pod) {
	for _, at := range q.Leave {
		n := &d.ground.snapshot.Nodes[at]
		if n.Deleting || slices.Contains(nodes, at) {
			continue
		}
		nodes = append(nodes, at)
		for j := range n.Pods {
			if n.Pods[j].Moves() {
				pods = append(pods, &n.Pods[j])
			}
		}
	}
	return nodes, pods
}

// lookFrom gives the run a board for the pods of the question, on which they are no longer on their nodes.
func (d *evaluator) lookFrom(r *run, preferences func(*cluster.Shape) demand.Preferences, leaving []int) {
	var rules []*topology.Rules
	for _, g := range r.Waiting {
		g.PodClass = d.podClasses[g.Shape].PodClass
		g.PodClass.Groups = nil
	}
	for _, g := range r.Waiting {
		if k := d.podClasses[g.Shape]; len(k.Groups) == 0 {
			which := demand.AllPreferences
			if preferences != nil {
				which = preferences(g.Shape)
			}
			k.Hold(k.ByPreferences[which])
			for _, lv := range k.Levels {
				rules = append(rules, k.rules[lv])
			}
		}
		g.PodClass.Groups = append(g.PodClass.Groups, g)
	}
	view := d.known.Board.View(rules)
	r.UseBoard(view.Board)
	r.Values.Counted = !view.Empty()
	r.Values.Labels = view.Looked()
	for _, g := range r.Waiting {
		if g.PodClass.Groups[0] != g {
			continue
		}
		k := d.podClasses[g.Shape]
		k.Depth = 0
		r.Add(g.PodClass)
		for _, lv := range k.Levels {
			lv.Begin(view.Rules(k.rules[lv]), r.FirstLaunch)
		}
	}
	if r.Values.Counted {
		d.depart(r, view, leaving)
		if r.Offers() { // else no pods are placed once more
			r.KeepBoard()
		}
	}
	for _, at := range leaving {
		for j := range d.ground.snapshot.Nodes[at].Pods {
			if p := &d.ground.snapshot.Nodes[at].Pods[j]; p.Moves() {
				d.hold(p.Shape, -1)
			}
		}
	}
	for _, g := range r.Waiting {
		for _, v := range g.PodClass.Shared {
			if v.Exclusive && d.held[v.Claim] > 0 {
				r.Held[v.Claim] = true
			}
		}
	}
}

// depart takes the pods that leave off the board, and the nodes that are removed.
func (d *evaluator) depart(r *run, view *topology.View, leaving []int) {
	for shape, rules := range d.daemons {
		if own := view.Rules(rules); own.Counts() {
			r.Values.Daemons[shape] = own
			view.Brought(own)
		}
	}
	for _, at := range leaving {
		n := &d.ground.snapshot.Nodes[at]
		var stay []*topology.Rules
		for j := range n.Pods {
			p := &n.Pods[j]
			switch {
			case p.Moves():
				view.Leave(r.Running(p.Shape), d.places[at], p.Ending)
			case !p.Ending:
				stay = append(stay, r.Running(p.Shape))
			}
		}
		if len(d.daemons) > 0 {
			for _, shape := range feasibility.Expected(n, d.ground.snapshot.Daemons) {
				if rules := d.daemons[shape]; rules != nil {
					view.Leave(rules, d.places[at], false)
				}
			}
		}
		gone := *n
		gone.Deleting = true
		if gone.Goes() {
			view.Vacate(d.places[at], stay)
		}
	}
}

// close keeps pods off the nodes that leave and those that are not open.
func (d *evaluator) close(q Question, leaving []int) {
	open := q.Open
	if open == nil {
		open = bitset.Full(len(d.targets))
	}
	for node := range d.open.Difference(open) {
		if at := d.targets[node]; at != nil {
			at.Closed = at.ShutForGood || !open.Has(node)
		}
	}
	copy(d.open, open)
	for _, at := range leaving {
		d.targets[at].Closed = true
	}
}

// putBack makes everything what it was before the question.
func (d *evaluator) putBack(q Question, leaving []int) {
	r := d.run
	r.Asked.Kept.GiveBack()
	r.Targets = r.Targets[:r.FirstLaunch]
	for _, at := range leaving {
		target := d.targets[at]
		target.Closed = target.ShutForGood || !d.open.Has(at)
		for j := range d.ground.snapshot.Nodes[at].Pods {
			if p := &d.ground.snapshot.Nodes[at].Pods[j]; p.Moves() {
				d.hold(p.Shape, 1)
			}
		}
	}
}

// asLeft returns a snapshot for reasons: in it, nodes are deleted that leave or that may take no pods of others.
func (d *evaluator) asLeft(leaving []int) *cluster.Snapshot {
	out := *d.ground.snapshot
	out.Nodes = slices.Clone(out.Nodes)
	for i := range out.Nodes {
		if at := d.targets[i]; at == nil || at.Closed {
			out.Nodes[i].Deleting = true
		}
	}
	return &out
}

// setTwins finds pools with the same options at the same cost.
func setTwins(candidates []*supply.Candidate) {
	for i, b := range candidates {
		if !b.Steady() {
			continue
		}
		b.Like = b
		for _, other := range candidates[:i] {
			if other.Like == other && b.OffersAs(other) {
				b.Like = other
				break
			}
		}
	}
}
