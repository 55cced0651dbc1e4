package removal

import (
	"math"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/scheduling"
	"github.com/daemok/daemok/core/topology"
)

// ask answers one question.
func (d *evaluator) ask(q Question) place.Result {
	r := d.begin(q)
	leaving, pods := d.leavers(q)
	if len(pods) == 0 {
		return place.Result{}
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
	explained := d.snapshot
	if q.Why {
		explained = d.asLeft(leaving)
	}
	out := r.FinishIn(explained)
	out.Expensive = r.Effort.Known || r.Asked.Launches && len(out.Unplaced) == 0 || out.Expensive || q.Below >= 0 && (out.Cost-out.Risk > float64(q.Below) || out.Unpriced > 0)
	d.putBack(q, leaving)
	return out
}

// begin makes a run for the question.
func (d *evaluator) begin(q Question) *place.Run {
	asked := &scheduling.Asked{LaunchNone: q.Below == 0, Why: q.Why, Known: &d.known}
	r := d.run.Next(asked, &d.twins, q.Leave)
	if d.reservedCapacities != nil {
		r.Provisioner.Reserved.Left = map[string]int64{}
		for name, left := range d.reservedCapacities {
			r.Provisioner.Reserved.Left[name] = left
		}
	}
	r.Limits.Restore(d.limits)
	for i, b := range r.Candidates {
		b.Restore(&d.pools[i])
	}
	freed := d.freed(q.Leave...)
	d.frees = len(freed) > 0
	r.Provisioner.Reserved.Recount(freed)
	if q.Freed {
		for _, at := range q.Leave {
			free(r, d.snapshot, &d.snapshot.Nodes[at])
		}
	}
	for i, at := range q.Leave {
		if !slices.Contains(q.Leave[:i], at) {
			depart(r, &d.snapshot.Nodes[at])
		}
	}
	launchBeside(r, d.snapshot, q.Beside)
	d.run = r
	return r
}

// narrow leaves candidates what limits still allow.
func narrow(r *place.Run) {
	for _, b := range r.Candidates {
		b.Narrow()
	}
}

// freed is what is left of commitments once nodes are gone, where that is more than with them.
func (d *evaluator) freed(leave ...int) []cluster.ReservedCapacity {
	if d.fleet == nil || len(leave) == 0 {
		return nil
	}
	names := make([]string, len(leave))
	for i, at := range leave {
		names[i] = d.snapshot.Nodes[at].Name
	}
	return slices.DeleteFunc(d.fleet.Left(names...), func(now cluster.ReservedCapacity) bool {
		was, known := d.reservedCapacities[now.Name]
		return !known || now.Left <= was
	})
}

// depart has minimums of on-demand nodes no longer count a node that goes.
func depart(r *place.Run, n *cluster.Node) {
	if !r.Limits.Depart(n) {
		return
	}
	narrow(r)
}

// free gives back what a node takes of limits that is gone before anything is launched.
func free(r *place.Run, s *cluster.Snapshot, n *cluster.Node) {
	if r.Limits == nil {
		return
	}
	r.Limits.GiveBack(r.Limits.TakenBy(s, n))
	narrow(r)
}

// launchBeside accounts for launches that come in any event.
func launchBeside(r *place.Run, s *cluster.Snapshot, launches []plan.Launch) {
	takeFor(r, launches)
	if r.Limits == nil || len(launches) == 0 {
		return
	}
	with := *s
	with.Pools, with.Quotas = slices.Clone(s.Pools), slices.Clone(s.Quotas)
	for i := range launches {
		m := launches[i].InFlight(&with, launches[i].Name)
		r.Limits.Use(r.Limits.TakenByInstance(s, &m))
	}
	narrow(r)
}

// leavers returns the nodes that leave, and their pods that need another place.
func (d *evaluator) leavers(q Question) (nodes []int, pods []*cluster.Pod) {
	for _, at := range q.Leave {
		n := &d.snapshot.Nodes[at]
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
func (d *evaluator) lookFrom(r *place.Run, preferences demand.Counting, leaving []int) {
	var rules []*topology.Rules
	for _, g := range r.Waiting {
		g.PodClass = d.podClasses[g.Shape].PodClass
		g.PodClass.Groups = nil
	}
	for _, g := range r.Waiting {
		if k := d.podClasses[g.Shape]; len(k.Groups) == 0 {
			k.Hold(k.ByPreferences[preferences.For(g.Shape)])
			for _, lv := range k.Levels {
				rules = append(rules, k.rules[lv])
			}
		}
		g.PodClass.Groups = append(g.PodClass.Groups, g)
	}
	view := d.known.Board.View(rules)
	r.Board = view.Board
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
		for j := range d.snapshot.Nodes[at].Pods {
			if p := &d.snapshot.Nodes[at].Pods[j]; p.Moves() {
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
func (d *evaluator) depart(r *place.Run, view *topology.View, leaving []int) {
	for shape, rules := range d.daemons {
		if own := view.Rules(rules); own.Counts() {
			r.Values.Daemons[shape] = own
			view.Brought(own)
		}
	}
	for _, at := range leaving {
		n := &d.snapshot.Nodes[at]
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
			for _, shape := range feasibility.Expected(n, d.snapshot.Daemons) {
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
		for j := range d.snapshot.Nodes[at].Pods {
			if p := &d.snapshot.Nodes[at].Pods[j]; p.Moves() {
				d.hold(p.Shape, 1)
			}
		}
	}
}

// asLeft returns a snapshot for reasons: in it, nodes are deleted that leave or that may take no pods of others.
func (d *evaluator) asLeft(leaving []int) *cluster.Snapshot {
	out := *d.snapshot
	out.Nodes = slices.Clone(out.Nodes)
	for i := range out.Nodes {
		if at := d.targets[i]; at == nil || at.Closed {
			out.Nodes[i].Deleting = true
		}
	}
	return &out
}

// endEarly ends the search for an answer to a question if instances for the pods that found no target certainly cost
// more than they may.
func (d *evaluator) endEarly(q Question) {
	r, most := d.run, float64(q.Below)
	if q.Below <= 0 || d.frees { // what frees commitments may have others that they pay for
		return
	}
	var sum []int64
	var last *demand.Group
	for _, g := range r.Demand.Groups {
		if !d.mustLaunch(g) {
			continue
		}
		last = g.Of
		if cheapest(d.pools, g.From.OfferingSet, g.Need) > most {
			r.Effort.Known, r.Asked.Lost = true, last
			return
		}
		if sum == nil {
			sum = make([]int64, r.Dims.Len())
		}
		amount.Take(sum, g.Need, -g.Left())
	}
	if last != nil && d.wholesale().exceeds(sum, most) {
		r.Effort.Known, r.Asked.Lost = true, last
	}
}

// mustLaunch reports whether pods of the group certainly have no place on a target. Pods that depend on other pods may
// find one later, when it is known where the others are.
func (d *evaluator) mustLaunch(g *demand.Group) bool {
	if g.PodClass.Plain(g.Level) {
		return true
	}
	for _, at := range d.reachableFor(g.Shape).targets {
		if at == nil {
			return true
		}
		if !at.Closed {
			return false
		}
	}
	return false
}

// hopeless reports whether instances for pods that have room on no other node certainly cost that much.
func (d *evaluator) hopeless(node int, below quantity.MicroUSDPerHour) bool {
	if len(d.freed(node)) > 0 {
		return false
	}
	n := &d.snapshot.Nodes[node]
	var sum []int64
	least := 0.0
	for j := range n.Pods {
		if !n.Pods[j].Moves() {
			continue
		}
		h := d.reachableFor(n.Pods[j].Shape)
		if h.targets[0] != nil && h.targets[0] != d.targets[node] || h.targets[1] != nil {
			continue
		}
		least = max(least, h.cost)
		if sum == nil {
			sum = make([]int64, d.run.Dims.Len())
		}
		amount.Take(sum, d.podClasses[n.Pods[j].Shape].need, -1)
	}
	return sum != nil && (least >= float64(below) || d.wholesale().exceeds(sum, float64(below)))
}

func (d *evaluator) reachableFor(s *cluster.Shape) reachable {
	if h, known := d.reachables[s]; known {
		return h
	}
	k, r := d.podClasses[s], d.run
	var h reachable
	lv := k.Required()
	found := 0
	for at := d.known.Gaps.Next(0, r.FirstLaunch, k.need); at < r.FirstLaunch && found < 2; at = d.known.Gaps.Next(at+1, r.FirstLaunch, k.need) {
		if target := r.Targets[at]; !target.ShutForGood && target.MayBeOn(lv, r.FirstLaunch) {
			h.targets[found] = target
			found++
		}
	}
	h.cost = math.Inf(1)
	for _, b := range r.Candidates {
		before := &d.pools[b.At]
		if d.twins.SpareFor(d.run.Candidates, lv.Wants).Has(b.At) {
			continue
		}
		terms, _ := b.Terms(lv.Wants)
		for _, t := range terms {
			for o := t.Options.Next(0); o >= 0; o = t.Options.Next(o + 1) {
				offering := b.Offering(b.Options[o])
				if before.AvailableNow.Has(o) && offering.Priced && amount.Fits(before.Most(b.Options[o].Kind), k.need) {
					h.cost = min(h.cost, demand.CostOf(offering)+float64(b.PerInstance()))
					break
				}
			}
		}
	}
	d.reachables[s] = h
	return h
}

// wholesale is what all pools offer. It is computed once.
func (d *evaluator) wholesale() *wholesale {
	if d.bulk == nil {
		d.bulk = newWholesale(d.run.Candidates, d.pools, d.run.Dims.Len())
	}
	return d.bulk
}
