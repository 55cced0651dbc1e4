package scheduling

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/topology"
)

// Places says which pods have a place where, and what is free. The scheduler shares it with core/place, which checks
// and changes the answer.
type Places struct {
	*demand.State
	Waiting     []*demand.Group // one for each shape, in the order of placing
	Targets     []*Target       // nodes, then instances being launched
	FirstLaunch int             // position of the first target that is an instance of this plan
	Round       int             // counted from 1
	Placed      []Placed
	Turn        int
	Held        map[string]bool // volume claims for one pod that are in use
	Asked       *Asked          // nil unless it is one of many questions about the same snapshot
}

// Placed is a pod that has its place.
type Placed struct {
	demand.WaitingPod
	Stay
	On     plan.Destination
	Name   string
	Target *Target // nil on an instance that was launched for it
	Launch int     // on an instance of this plan: its position among the launches
}

// Stay is the group of a pod that has its place, and the level on which it got it.
type Stay struct {
	Group *demand.Group
	Level *demand.Level
}

// Place records where pods have their place: on a target or, without one, on an instance of this plan.
func (p *Places) Place(of Stay, pods []demand.WaitingPod, on plan.Destination, name string, at *Target, launch int) {
	for _, w := range pods {
		p.Placed = append(p.Placed, Placed{WaitingPod: w, Stay: of, On: on, Name: name, Target: at, Launch: launch})
	}
}

// RoomOn returns how many pods of the group the target may take now. They must be admitted there.
func (p *Places) RoomOn(s *Target, g *demand.Group, lv *demand.Level) int64 {
	n, _ := s.Guests.Within(p.Dims, s.Free, g)
	if n == 0 {
		return 0
	}
	n = min(n, s.Guests.Room(g.PodClass, lv))
	if n > 0 && p.Values.Counted {
		n = min(n, p.Board.Room(lv.Rules, p.Board.Spot(s.Place)))
	}
	if n > 0 && demand.Exclusive(g.PodClass) {
		n = 1
	}
	return n
}

// Sit places the next n pods of the group on the target.
func (p *Places) Sit(s *Target, g *demand.Group, lv *demand.Level, n int64) {
	p.Keep(s)
	s.Take(p.Dims, g, lv, n)
	g.Rides -= n
	if p.Values.Counted {
		p.Board.Put(lv.Rules, s.Place, n, false)
	}
	p.Hold(g.PodClass)
	pods := p.Turns(g.Next(n))
	if s.Planned != nil {
		for _, w := range pods {
			s.Planned.Take(w.Pod)
		}
	}
	p.Place(Stay{g, lv}, pods, s.On, s.Name, s, s.Launch)
}

// Turns numbers pods in the order in which they get their places.
func (p *Places) Turns(list []demand.WaitingPod) []demand.WaitingPod {
	for i := range list {
		p.Turn++
		list[i].Turn = p.Turn
	}
	return list
}

// Hold records that the class's volumes for one pod at a time are in use.
func (p *Places) Hold(k *demand.PodClass) {
	for _, v := range k.Shared {
		if v.Exclusive {
			p.Held[v.Claim] = true
		}
	}
}

// Release records that they are free again.
func (p *Places) Release(k *demand.PodClass) {
	for _, v := range k.Shared {
		delete(p.Held, v.Claim)
	}
}

// Used reports whether one of the class's volumes for one pod at a time is in use.
func (p *Places) Used(k *demand.PodClass) bool {
	return slices.ContainsFunc(k.Shared, func(v cluster.Volume) bool { return v.Exclusive && p.Held[v.Claim] })
}

// pins returns the requirements that put an instance on the spot.
func (p *Places) pins(fixed []int, spot topology.Spot) constraint.Requirements {
	var out constraint.Requirements
	for _, k := range fixed {
		set, _ := constraint.NewSet(constraint.DoesNotExist)
		if d := spot[k]; d >= 0 {
			set = constraint.Values(p.Board.Value(k, d))
		}
		out = out.And(constraint.Requirement{Key: p.Board.Keys()[k], Set: set})
	}
	return out
}

// spotOf returns the spot of the target; nil if no rule looks at other pods.
func (p *Places) spotOf(s *Target) topology.Spot {
	if !p.Values.Counted {
		return nil
	}
	return p.Board.Spot(s.Place)
}

// ahead returns the spot with its host left open: that of any host in the same domains.
func (p *Places) ahead(spot topology.Spot) topology.Spot {
	out := slices.Clone(spot[:min(len(spot), len(p.Board.Keys()))])
	if k := slices.Index(p.Board.Keys(), cluster.LabelHostname); k >= 0 && k < len(out) {
		out[k] = topology.Fresh
	}
	return out
}
