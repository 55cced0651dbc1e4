package place

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/scheduling"
	"github.com/daemok/daemok/core/supply"
	"github.com/daemok/daemok/core/topology"
)

// move is an answer that became true.
type move struct {
	leave      []int
	before     []cluster.Node // the nodes that leave, as they were
	launches   []plan.Launch
	instances  []cluster.Instance // of these launches
	placements []plan.Placement   // on instances by their claims
}

// Take makes an answer true: the nodes that leave are being deleted, and their pods are where the answer put them. Later
// answers are as after a Survey of that snapshot. It must not be called while questions are answered.
//
// Cost: far below that of a Survey.
func (g *Ground) Take(leave []int, a Result) {
	s := g.snapshot
	if len(g.moves) == 0 { // the first time, since others have them too
		s.Nodes, s.Instances, s.Pools = slices.Clone(s.Nodes), slices.Clone(s.Instances), slices.Clone(s.Pools)
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
		m.instances = append(m.instances, inFlight(s.Pools, &a.Launches[i], name(a.Launches[i].Name)))
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

// carryOut makes a move true at the evaluator.
func (d *evaluator) carryOut(m *move) {
	r := d.begin(Question{})
	for i, at := range m.leave {
		d.letGo(r, at, &m.before[i])
	}
	places := map[string]int{}
	for i := range m.instances {
		places[m.instances[i].Claim] = d.expect(r, &m.instances[i])
	}
	takeFor(r, m.launches)
	d.recordPools()
	for i := range m.placements {
		d.bind(r, &m.placements[i], places)
	}
	d.arrange()
	d.bulk = nil
	r.Clear()
	clear(d.reachables)
	clear(d.known.ByDomain)
}

// letGo takes a node that leaves, and its pods, off the board, and closes its target.
func (d *evaluator) letGo(r *run, at int, n *cluster.Node) {
	target := d.targets[at]
	target.Closed, target.ShutForGood = true, true
	var stay []*topology.Rules
	for j := range n.Pods {
		p := &n.Pods[j]
		switch {
		case p.Moves():
			d.known.Board.Put(r.Running(p.Shape), d.places[at], -1, p.Ending)
			d.hold(p.Shape, -1)
		case !p.Ending:
			stay = append(stay, r.Running(p.Shape))
		}
	}
	for _, shape := range feasibility.Expected(n, d.ground.snapshot.Daemons) {
		if rules := d.daemons[shape]; rules != nil {
			d.known.Board.Put(rules, d.places[at], -1, false)
		}
	}
	gone := *n
	gone.Deleting = true
	if gone.Goes() {
		d.known.Board.Vacate(d.places[at], stay)
	}
}

// expect adds an instance being launched to the board, and returns its place.
func (d *evaluator) expect(r *run, m *cluster.Instance) int {
	at := slices.IndexFunc(r.Candidates, func(b *supply.Candidate) bool { return b.ID == m.Pool })
	if at < 0 {
		panic("place: an instance is taken from a pool that is not there")
	}
	b := r.Candidates[at]
	if b.Remaining != nil {
		b.Remaining.Use(m.Capacity)
		b.Narrow()
	}
	inFlight := feasibility.ForInstance(m, b.Pool, d.ground.snapshot.Daemons)
	ways, open := inFlight.Ways(d.looked)
	place := d.known.Board.AddOutlook(topology.Outlook{Ways: ways, Host: hostOf(m.Claim), Open: open}, m.Taints)
	d.known.Board.RecordOpener(place)
	r.Values.Daemons = d.daemons
	r.Values.DueAt(inFlight).Put(d.known.Board, place)
	return place
}

// bind counts a pod where the answer put it.
func (d *evaluator) bind(r *run, p *plan.Placement, places map[string]int) {
	k := d.podClasses[p.Pod.Shape]
	place, known := places[p.Target]
	d.hold(p.Pod.Shape, 1)
	if p.On == plan.OnNode {
		target := d.byName[p.Target]
		if _, first := target.Guests.Within(r.Dims, target.Free, &demand.Group{PodClass: k.PodClass, Need: k.need}); first != nil {
			amount.Take(target.Free, first, 1)
		}
		amount.Take(target.Free, k.need, 1)
		target.Guests.Add(k.PodClass, k.Required(), 1)
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
	for _, b := range d.run.Candidates {
		if b.Remaining != nil {
			b.Remaining.First = b.Remaining.Clone()
		}
		d.pools = append(d.pools, b.Saved())
	}
	d.reservedCapacities = d.run.Provisioner.Reserved.Left
}
