package removal

import (
	"slices"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/coverage"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/provisioning"
	"github.com/daemok/daemok/core/scheduling"
	"github.com/daemok/daemok/core/supply"
	"github.com/daemok/daemok/core/topology"
)

// newEvaluator is for a snapshot on which so many moves are carried out. Pods are expected on instances as taken says,
// of which these are of the plan.
func newEvaluator(s *cluster.Snapshot, launches []plan.Launch, taken []plan.Placement, options place.Options, moves int) *evaluator {
	r := place.NewRun(s, movers(s, taken), options)
	takeFor(r, launches)
	d := &evaluator{
		snapshot: s, run: r, looked: r.Values.Labels, moves: moves, daemons: r.Values.Daemons,
		begins:     begins{reservedCapacities: r.Provisioner.Reserved.Left, fleet: coverage.FleetOf(s)},
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
	d.recordTaken(taken)
	d.open = bitset.Full(len(s.Nodes))
	d.recordPools()
	setTwins(r.Candidates)
	d.arrange()
	r.Clear()
	return d
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

// bind counts a pod where the answer put it.
func (d *evaluator) bind(r *place.Run, p *plan.Placement, places map[string]int) {
	k := d.podClasses[p.Pod.Shape]
	place, known := places[p.Target]
	d.hold(p.Pod.Shape, 1)
	if p.On == plan.OnNode {
		target := d.byName[p.Target]
		target.Take(r.Dims, &demand.Group{PodClass: k.PodClass, Need: k.need}, k.Required(), 1)
		d.filled = append(d.filled, target)
		place, known = target.Place, true
	}
	if known {
		d.known.Board.Put(k.rules[k.Required()], place, 1, false)
	}
}

// arrange puts targets in the order in which they are tried, by what is free on them now.
func (d *evaluator) arrange() {
	r := d.run
	if nodes := r.Targets[:d.nodeTargets]; d.known.Gaps == nil {
		slices.SortFunc(nodes, scheduling.ByRoom)
		d.known.Gaps = &scheduling.Gaps{Dims: r.Dims.Len()}
	} else {
		reorder(nodes, d.filled)
		d.known.Gaps.Clear()
	}
	d.filled = nil
	for i, target := range r.Targets {
		target.At = i
		d.known.Gaps.Add(target.Free)
	}
}

// reorder sorts targets of which only some are out of order; it sorts these too. The At of each target must be its
// position.
func reorder(targets, some []*scheduling.Target) {
	slices.SortFunc(some, func(a, b *scheduling.Target) int { return a.At - b.At })
	some = slices.Compact(some)
	rest, from := make([]*scheduling.Target, 0, len(targets)), 0
	for _, s := range some {
		rest, from = append(rest, targets[from:s.At]...), s.At+1
	}
	rest = append(rest, targets[from:]...)
	slices.SortFunc(some, scheduling.ByRoom)
	out := targets[:0]
	for _, s := range some {
		n, _ := slices.BinarySearchFunc(rest, s, scheduling.ByRoom)
		out, rest = append(append(out, rest[:n]...), s), rest[n:]
	}
	copy(targets[len(out):], rest)
}

// recordPools keeps what pools have before a question.
func (d *evaluator) recordPools() {
	d.pools = d.pools[:0]
	d.run.Limits.Begin()
	d.limits = d.run.Limits.Saved()
	for _, b := range d.run.Candidates {
		d.pools = append(d.pools, b.Saved())
	}
	d.reservedCapacities = d.run.Provisioner.Reserved.Left
}

// takeFor accounts for reserved capacity that instances of the plan use. What they use of commitments is counted with
// the instances of the snapshot.
func takeFor(r *place.Run, launches []plan.Launch) {
	for i := range launches {
		at := slices.IndexFunc(r.Candidates, func(b *supply.Candidate) bool { return b.ID == launches[i].Pool })
		if at < 0 || r.Provisioner.Reserved.Left == nil {
			continue
		}
		if o := launches[i].Offering(r.Candidates[at].Catalogue); o != nil && r.Provisioner.Reserved.Of(o) > 0 {
			r.Provisioner.Reserved.Take(o.Uncovered())
		}
	}
}
