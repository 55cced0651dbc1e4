package place

import (
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/effort"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/supply"
	"github.com/daemok/daemok/core/topology"
)

// places is where pods have their place, and what is free: the scheduler and what goes over its work share it.
type places struct {
	board       *topology.Board
	dims        amount.Dims
	effort      *effort.Count
	values      *supply.Valuation
	candidates  []*supply.Candidate // heaviest pool first
	demand      *demand.Demand
	waiting     []*demand.Group // one for each shape, in the order of placing
	targets     []*target       // nodes, then ordered instances
	firstLaunch int             // position of the first target on an instance of this plan
	round       int             // counted from 1
	placed      []placed
	turn        int
	held        map[string]bool // volume claims for one pod that are in use
	asked       *asked          // nil unless it is one of many questions about the same snapshot
}

// placed is a pod that has its place.
type placed struct {
	demand.WaitingPod
	stay
	on     plan.Destination
	name   string
	target *target // nil on an instance that was ordered for it
	launch int     // on an instance of this plan: its position among the launches
}

// stay is where a pod is.
type stay struct {
	group *demand.Group
	level *demand.Level
}

// place notes where pods of the group have their place: at a target or, without one, on an instance of this plan.
func (p *places) place(of stay, pods []demand.WaitingPod, on plan.Destination, name string, at *target, launch int) {
	for _, w := range pods {
		p.placed = append(p.placed, placed{WaitingPod: w, stay: of, on: on, name: name, target: at, launch: launch})
	}
}

// roomOn returns how many pods of the group the target may take now, on which
// it is admitted.
func (p *places) roomOn(s *target, g *demand.Group, lv *demand.Level) int64 {
	n, _ := s.guests.Within(p.dims, s.free, g)
	if n == 0 {
		return 0
	}
	n = min(n, s.guests.Room(g.PodClass, lv))
	if n > 0 && p.values.Counted {
		n = min(n, p.board.Room(lv.Rules, p.board.Spot(s.place)))
	}
	if n > 0 && demand.Exclusive(g.PodClass) {
		n = 1
	}
	return n
}

// sit places the next n pods of the group on the target.
func (p *places) sit(s *target, g *demand.Group, lv *demand.Level, n int64) {
	p.keep(s)
	_, first := s.guests.Within(p.dims, s.free, g)
	if first != nil {
		amount.Take(s.free, first, 1)
	}
	amount.Take(s.free, g.Need, n)
	g.Rides -= n
	s.guests.Add(g.PodClass, lv, n)
	if p.values.Counted {
		p.board.Put(lv.Rules, s.place, n, false)
	}
	p.hold(g.PodClass)
	pods := p.turns(g.Next(n))
	if s.planned != nil {
		for _, w := range pods {
			s.planned.Take(w.Pod)
		}
	}
	p.place(stay{g, lv}, pods, s.on, s.name, s, s.launch)
}

// turns numbers pods in the order in which they get their places.
func (p *places) turns(list []demand.WaitingPod) []demand.WaitingPod {
	for i := range list {
		p.turn++
		list[i].Turn = p.turn
	}
	return list
}

// hold notes that volumes for one pod at a time are in use.
func (p *places) hold(k *demand.PodClass) {
	for _, v := range k.Shared {
		if v.Exclusive {
			p.held[v.Claim] = true
		}
	}
}

// release notes that they are free again.
func (p *places) release(k *demand.PodClass) {
	for _, v := range k.Shared {
		delete(p.held, v.Claim)
	}
}

// used reports whether a volume for one pod at a time is in use already.
func (p *places) used(k *demand.PodClass) bool {
	return slices.ContainsFunc(k.Shared, func(v cluster.Volume) bool { return v.Exclusive && p.held[v.Claim] })
}

// pins returns the requirements that put an instance on the spot.
func (p *places) pins(fixed []int, spot topology.Spot) constraint.Requirements {
	var out constraint.Requirements
	for _, k := range fixed {
		set, _ := constraint.NewSet(constraint.DoesNotExist)
		if d := spot[k]; d >= 0 {
			set = constraint.Values(p.board.Value(k, d))
		}
		out = out.And(constraint.Requirement{Key: p.board.Keys()[k], Set: set})
	}
	return out
}

// spotOf returns where the target is; nowhere while no rule looks at other pods.
func (p *places) spotOf(s *target) topology.Spot {
	if !p.values.Counted {
		return nil
	}
	return p.board.Spot(s.place)
}

// ahead returns the spot with its host left open, for any place there.
func (p *places) ahead(spot topology.Spot) topology.Spot {
	out := slices.Clone(spot[:min(len(spot), len(p.board.Keys()))])
	if k := slices.Index(p.board.Keys(), cluster.LabelHostname); k >= 0 && k < len(out) {
		out[k] = topology.Fresh
	}
	return out
}
