package place

import (
	"slices"

	"github.com/daemok/daemok/core/topology"
)

// affinities knows which groups must be on the host of pods of other groups, and puts co-located sets together.
type affinities struct {
	run      *run
	givers   map[int][]*group         // of a tally that some pods seek: the groups of such pods
	seekers  map[int][]*group         // of a tally: the groups of pods that must be beside such pods
	gatherer guests                   // likewise, for gathering co-located sets
	meeting  map[[2]*offeringSet]bool // offering sets with an instance in common; see meet
	torn     map[*group]*colocation   // co-located sets that are too much for any instance, by those that homes are sought for
}

// component is groups that hang together: pods of some must be on the host of pods of
// others, directly or by way of more of them.
type component struct {
	podGroups    []*group    // in the order of launching
	version      int         // changes whenever it is another number of pods that is left
	colocation   *colocation // of its first group that is left, at the version of colocationAt
	colocationAt int
	first        *group // its first group that is left and seeks others, likewise of firstAt
	firstAt      int
	wanting      map[int]int64 // by tally: pods left that seek such pods, likewise of wantsAt
	wantsAt      int
}

// bind finds out which groups hang together and how far each is from pods that
// need none.
func (a *affinities) bind() {
	a.givers, a.seekers = nil, map[int][]*group{}
	for _, g := range a.run.groups {
		g.component, g.seeks, g.gives, g.stuck = nil, nil, nil, false
		for _, s := range g.level.rules.Seeks() {
			if a.run.board.Comes(s.Tally) {
				continue
			}
			g.seeks = append(g.seeks, s)
			a.seekers[s.Tally] = append(a.seekers[s.Tally], g)
		}
	}
	if len(a.seekers) == 0 {
		return
	}
	a.givers = map[int][]*group{}
	for _, g := range a.run.groups {
		for _, t := range g.level.rules.Sought() {
			if len(a.seekers[t]) > 0 {
				g.gives = append(g.gives, t)
				a.givers[t] = append(a.givers[t], g)
			}
		}
	}
	a.joinComponents()
	a.measureComponents()
}

// joinComponents puts groups into one component that have a tally in common, as those that
// seek or as those that are sought.
func (a *affinities) joinComponents() {
	seen := map[int]bool{}
	for _, g := range a.run.groups {
		if g.component != nil || len(g.seeks)+len(g.gives) == 0 {
			continue
		}
		b := &component{version: 1, podGroups: []*group{g}}
		g.component = b
		for i := 0; i < len(b.podGroups); i++ {
			for _, t := range b.podGroups[i].tallies() {
				if seen[t] {
					continue
				}
				seen[t] = true
				b.join(a.givers[t])
				b.join(a.seekers[t])
			}
		}
		slices.SortFunc(b.podGroups, func(x, y *group) int { return x.at - y.at })
	}
}

func (b *component) join(podGroups []*group) {
	for _, g := range podGroups {
		if g.component == nil {
			g.component, b.podGroups = b, append(b.podGroups, g)
		}
	}
}

func (g *group) tallies() []int {
	out := slices.Clone(g.gives)
	for _, s := range g.seeks {
		out = append(out, s.Tally)
	}
	return out
}

// measureComponents counts how many steps each group is from pods that need none,
// so that those needed are looked for among groups that are nearer to them.
func (a *affinities) measureComponents() {
	missing := map[*group]int{}
	var ready []*group
	for _, g := range a.run.groups {
		if g.component == nil {
			continue
		}
		g.lone, g.steps = false, unreachable
		for _, s := range g.seeks {
			if a.exempt(s) {
				g.lone = true
			} else {
				missing[g]++
			}
		}
		if missing[g] == 0 {
			g.steps, ready = 0, append(ready, g)
		}
	}
	open := map[int]bool{}
	for i := 0; i < len(ready); i++ {
		for _, t := range ready[i].gives {
			if open[t] {
				continue
			}
			open[t] = true
			for _, g := range a.seekers[t] {
				if missing[g]--; missing[g] == 0 && g.steps == unreachable {
					g.steps, ready = ready[i].steps+1, append(ready, g)
				}
			}
		}
	}
}

// unreachable is the steps of groups whose needs none can meet.
const unreachable = 1 << 30

// exempt reports whether pods need none of the kind that they seek, because
// they are the first of it.
func (a *affinities) exempt(s topology.Seek) bool { return s.Own && !a.run.board.Anywhere(s.Tally) }

// touch notes that another number of pods of the group is left.
func (g *group) touch() {
	if g.component != nil {
		g.component.version++
	}
}

// touchAll ends a look ahead at other numbers of pods that are left.
func (a *affinities) touchAll(left []int64) {
	for i, n := range left {
		if n != a.run.provisioner.outstanding.left[i] {
			a.run.groups[i].touch()
		}
	}
}

// head returns the first group of the component with pods left that seek others.
func (b *component) head(left []int64) *group {
	if b.firstAt != b.version {
		b.firstAt, b.first = b.version, nil
		if at := slices.IndexFunc(b.podGroups, func(g *group) bool { return len(g.seeks) > 0 && left[g.at] > 0 && !g.stuck && g.steps < unreachable }); at >= 0 {
			b.first = b.podGroups[at]
		}
	}
	return b.first
}

// wants counts by tally the pods left that seek such pods.
func (b *component) wants(left []int64) map[int]int64 {
	if b.wantsAt != b.version {
		b.wantsAt, b.wanting = b.version, map[int]int64{}
		for _, g := range b.podGroups {
			if g.stuck || g.steps == unreachable {
				continue
			}
			for _, s := range g.seeks {
				b.wanting[s.Tally] += left[g.at]
			}
		}
	}
	return b.wanting
}
