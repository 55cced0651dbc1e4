package place

import (
	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/explanation"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/provisioning"
	"github.com/daemok/daemok/core/supply"
	"github.com/daemok/daemok/core/topology"
)

// diagnosis finds out why pods have no place.
type diagnosis struct {
	run *Run
}

// unplaced lists the pods that have no place, with what would have to change.
func (di *diagnosis) unplaced() []plan.Unplaced {
	if di.run.Asked != nil && di.run.Asked.Lost != nil {
		return di.run.Asked.Unplaced()
	}
	var out []plan.Unplaced
	var asked []explanation.Pods
	for _, g := range di.run.Waiting {
		if g.Left() == 0 {
			continue
		}
		u := plan.Unplaced{Shape: g.Shape}
		for _, w := range g.Pods[g.Placed:] {
			u.Pods = append(u.Pods, *w.Pod)
		}
		out, asked = append(out, u), append(asked, di.hopeless(g))
	}
	if len(out) == 0 || di.run.options.Unexplained || di.run.Asked != nil && !di.run.Asked.Why {
		return out
	}
	for i, reasons := range di.aftermath().Reasons(asked) {
		out[i].Reasons = reasons
	}
	return out
}

// aftermath is the state once nothing more is placed or launched, for core/explanation.
func (di *diagnosis) aftermath() *explanation.World {
	out := &explanation.World{
		Snapshot: di.run.snapshot, Board: di.run.Board, Counted: di.run.Values.Counted, Daemons: di.run.Values.Daemons, Held: di.run.Held,
		Placed: di.everyPlaced, Resources: di.run.Dims.Resources, Drivers: di.run.Dims.Drivers, Exhausted: di.run.Effort.Exhausted,
	}
	for _, b := range di.run.Candidates {
		out.Pools = append(out.Pools, explanation.Pool{
			Pool:        b.Pool,
			Constraints: di.run.bounds(b),
			TooFew:      func(options bitset.Set) feasibility.Changes { return di.tooFewValues(b, options) },
		})
	}
	for _, s := range di.run.Targets {
		if s.Closed {
			continue
		}
		out.Targets = append(out.Targets, explanation.Target{
			Name: s.Name, Node: s.InFlight == nil, Free: s.Free, Ports: s.Guests.Ports, Claims: s.Guests.Claims, Place: s.Place,
		})
	}
	return out
}

func (di *diagnosis) everyPlaced(yield func(explanation.Placed) bool) {
	for i := range di.run.Placed {
		x := &di.run.Placed[i]
		if !yield(explanation.Placed{Pod: x.Pod, On: x.Name, Place: di.run.placeOf(x)}) {
			return
		}
	}
}

// tooFewValues says which minValues of the pool these options cannot meet.
func (di *diagnosis) tooFewValues(b *supply.Candidate, options bitset.Set) feasibility.Changes {
	if di.run.options.MinValues == provisioning.BestEffort || options == nil || options.Next(0) < 0 {
		return nil
	}
	short := b.MinValuesShort(options, b.FirstKinds(options))
	if short == nil {
		return nil
	}
	return feasibility.Changes{feasibility.NewChange(short.Rule, short.Key, 0, short.Text)}
}

// hopeless returns the pods of the group that have no place, as core/explanation asks about them.
func (di *diagnosis) hopeless(g *demand.Group) explanation.Pods {
	return explanation.Pods{Shape: g.Shape, Need: g.Need, Rules: g.PodClass.Required().Rules, Search: &searched{di.run, g}}
}

// searched is what the search found out about such pods.
type searched struct {
	r *Run
	g *demand.Group
}

func (s *searched) OfferingSets() []topology.Spot {
	var out []topology.Spot
	for _, m := range s.r.scheduler.Index.OfferingSetsOf(s.g.PodClass.Required()) {
		out = append(out, m.Spot)
	}
	return out
}

func (s *searched) Launchable() []topology.Spot {
	var out []topology.Spot
	for _, m := range s.r.scheduler.Index.OfferingSetsOf(s.g.PodClass.Required()) {
		if _, _, ok := m.First(s.g, true); ok {
			out = append(out, m.Spot)
		}
	}
	return out
}

func (s *searched) Roomy() []topology.Spot {
	var out []topology.Spot
	if !s.r.Values.Counted {
		return nil
	}
	for _, x := range s.r.Targets {
		if n, _ := x.Guests.Within(s.r.Dims, x.Free, s.g); n > 0 && x.Admitted(s.g.PodClass.Required(), len(s.r.Targets)) {
			out = append(out, s.r.Board.Spot(x.Place))
		}
	}
	return out
}

func (s *searched) Torn() (explanation.Torn, bool) { return s.r.Provisioner.Affinities.TornApart(s.g) }
