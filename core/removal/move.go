package removal

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/coverage"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
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
	gone := coverage.Change{Launches: m.launches}
	for i := range m.before {
		gone.Nodes = append(gone.Nodes, m.before[i].Name)
	}
	d.fleet.Carry(gone)
	r.Provisioner.Reserved.Recount(d.fleet.Left())
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
func (d *evaluator) letGo(r *place.Run, at int, n *cluster.Node) {
	target := d.targets[at]
	target.Closed, target.ShutForGood = true, true
	depart(r, n)
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
	for _, shape := range feasibility.Expected(n, d.snapshot.Daemons) {
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
func (d *evaluator) expect(r *place.Run, m *cluster.Instance) int {
	at := slices.IndexFunc(r.Candidates, func(b *supply.Candidate) bool { return b.ID == m.Pool })
	if at < 0 {
		panic("removal: an instance is taken from a pool that is not there")
	}
	b := r.Candidates[at]
	if r.Limits != nil {
		r.Limits.Use(r.Limits.TakenByInstance(d.snapshot, m))
		r.Provisioner.Narrow(b)
	}
	inFlight := feasibility.ForInstance(m, b.Pool, d.snapshot.Daemons)
	ways, open := inFlight.Ways(d.looked)
	place := d.known.Board.AddOutlook(topology.Outlook{Ways: ways, Host: place.HostOf(m.Claim), Open: open}, m.Taints)
	d.known.Board.RecordOpener(place)
	r.Values.Daemons = d.daemons
	r.Values.DueAt(inFlight).Put(d.known.Board, place)
	return place
}
