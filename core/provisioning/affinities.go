package provisioning

import (
	"slices"

	"github.com/daemok/daemok/core/demand"
)

// affinities knows which groups need pods of other groups on their host, and puts co-located sets together.
type affinities struct {
	pr       *Provisioner
	givers   map[int][]*demand.Group              // of a tally that some pods seek: the groups of such pods
	seekers  map[int][]*demand.Group              // of a tally: the groups of pods that must be beside such pods
	Gatherer demand.Guests                        // for gathering co-located sets; kept for its memory
	meeting  map[[2]*demand.OfferingSet]bool      // offering sets with an instance in common; see meet
	torn     map[*demand.Group]*demand.Colocation // co-located sets that are too large for any instance, by group of waiting pods
}

// bind finds out which groups depend on each other, and how far each is from one that needs no others.
func (a *affinities) bind() {
	a.givers, a.seekers = nil, map[int][]*demand.Group{}
	for _, g := range a.pr.Groups {
		g.Component, g.Seeks, g.Gives, g.Stuck = nil, nil, nil, false
		for _, s := range g.Level.Rules.Seeks() {
			if a.pr.Board.Comes(s.Tally) {
				continue
			}
			g.Seeks = append(g.Seeks, s)
			a.seekers[s.Tally] = append(a.seekers[s.Tally], g)
		}
	}
	if len(a.seekers) == 0 {
		return
	}
	a.givers = map[int][]*demand.Group{}
	for _, g := range a.pr.Groups {
		for _, t := range g.Level.Rules.Sought() {
			if len(a.seekers[t]) > 0 {
				g.Gives = append(g.Gives, t)
				a.givers[t] = append(a.givers[t], g)
			}
		}
	}
	a.joinComponents()
	a.measureComponents()
}

// joinComponents puts groups into one component that have a tally in common, because their pods seek such pods or
// are such pods.
func (a *affinities) joinComponents() {
	seen := map[int]bool{}
	for _, g := range a.pr.Groups {
		if g.Component != nil || len(g.Seeks)+len(g.Gives) == 0 {
			continue
		}
		b := &demand.Component{Version: 1, PodGroups: []*demand.Group{g}}
		g.Component = b
		for i := 0; i < len(b.PodGroups); i++ {
			for _, t := range b.PodGroups[i].Tallies() {
				if seen[t] {
					continue
				}
				seen[t] = true
				b.Join(a.givers[t])
				b.Join(a.seekers[t])
			}
		}
		slices.SortFunc(b.PodGroups, func(x, y *demand.Group) int { return x.At - y.At })
	}
}

// measureComponents counts how many steps each group is from one that needs no others, so that pods that a group
// needs are looked for among groups with fewer steps.
func (a *affinities) measureComponents() {
	missing := map[*demand.Group]int{}
	var ready []*demand.Group
	for _, g := range a.pr.Groups {
		if g.Component == nil {
			continue
		}
		g.Lone, g.Steps = false, demand.Unreachable
		for _, s := range g.Seeks {
			if demand.Exempt(a.pr.Board, s) {
				g.Lone = true
			} else {
				missing[g]++
			}
		}
		if missing[g] == 0 {
			g.Steps, ready = 0, append(ready, g)
		}
	}
	open := map[int]bool{}
	for i := 0; i < len(ready); i++ {
		for _, t := range ready[i].Gives {
			if open[t] {
				continue
			}
			open[t] = true
			for _, g := range a.seekers[t] {
				if missing[g]--; missing[g] == 0 && g.Steps == demand.Unreachable {
					g.Steps, ready = ready[i].Steps+1, append(ready, g)
				}
			}
		}
	}
}

// touchAll ends a calculation with other numbers of pods that are left.
func (a *affinities) touchAll(left []int64) {
	for i, n := range left {
		if n != a.pr.outstanding.left[i] {
			a.pr.Groups[i].Touch()
		}
	}
}
