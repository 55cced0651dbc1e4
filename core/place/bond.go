package place

import (
	"slices"

	"github.com/daemok/daemok/core/topology"
)

// bond is rows that hang together: pods of some must be on the host of pods of
// others, directly or by way of more of them.
type bond struct {
	rows    []*group // in the order of buying
	version int      // changes whenever it is another number of pods that is left
	crew    *crew    // of its first row that is left, at the version of crewAt
	crewAt  int
	first   *group // its first row that is left and seeks others, likewise of firstAt
	firstAt int
	wanting map[int]int64 // by tally: pods left that seek such pods, likewise of wantsAt
	wantsAt int
}

// bind finds out which rows hang together and how far each is from pods that
// need nobody.
func (r *run) bind() {
	r.givers, r.seekers = nil, map[int][]*group{}
	for _, g := range r.groups {
		g.bond, g.seeks, g.gives, g.stuck = nil, nil, nil, false
		for _, s := range g.level.rules.Seeks() {
			if r.board.Comes(s.Tally) {
				continue
			}
			g.seeks = append(g.seeks, s)
			r.seekers[s.Tally] = append(r.seekers[s.Tally], g)
		}
	}
	if len(r.seekers) == 0 {
		return
	}
	r.givers = map[int][]*group{}
	for _, g := range r.groups {
		for _, t := range g.level.rules.Sought() {
			if len(r.seekers[t]) > 0 {
				g.gives = append(g.gives, t)
				r.givers[t] = append(r.givers[t], g)
			}
		}
	}
	r.joinBonds()
	r.measureBonds()
}

// joinBonds puts rows into one bond that have a tally in common, as those that
// seek or as those that are sought.
func (r *run) joinBonds() {
	seen := map[int]bool{}
	for _, g := range r.groups {
		if g.bond != nil || len(g.seeks)+len(g.gives) == 0 {
			continue
		}
		b := &bond{version: 1, rows: []*group{g}}
		g.bond = b
		for i := 0; i < len(b.rows); i++ {
			for _, t := range b.rows[i].tallies() {
				if seen[t] {
					continue
				}
				seen[t] = true
				b.join(r.givers[t])
				b.join(r.seekers[t])
			}
		}
		slices.SortFunc(b.rows, func(x, y *group) int { return x.at - y.at })
	}
}

func (b *bond) join(rows []*group) {
	for _, g := range rows {
		if g.bond == nil {
			g.bond, b.rows = b, append(b.rows, g)
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

// measureBonds counts how many steps each row is from pods that need nobody,
// so that those needed are looked for among rows that are nearer to them.
func (r *run) measureBonds() {
	missing := map[*group]int{}
	var ready []*group
	for _, g := range r.groups {
		if g.bond == nil {
			continue
		}
		g.lone, g.steps = false, unreachable
		for _, s := range g.seeks {
			if r.exempt(s) {
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
			for _, g := range r.seekers[t] {
				if missing[g]--; missing[g] == 0 && g.steps == unreachable {
					g.steps, ready = ready[i].steps+1, append(ready, g)
				}
			}
		}
	}
}

// unreachable is the steps of rows whose needs nobody can meet.
const unreachable = 1 << 30

// exempt reports whether pods need nobody of the kind that they seek, because
// they are the first of it.
func (r *run) exempt(s topology.Seek) bool { return s.Own && !r.board.Anywhere(s.Tally) }

// touch notes that another number of pods of the row is left.
func (g *group) touch() {
	if g.bond != nil {
		g.bond.version++
	}
}

// touchAll ends a look ahead at other numbers of pods that are left.
func (r *run) touchAll(left []int64) {
	for i, n := range left {
		if n != r.demand.left[i] {
			r.groups[i].touch()
		}
	}
}

// head returns the first row of the bond with pods left that seek others.
func (b *bond) head(left []int64) *group {
	if b.firstAt != b.version {
		b.firstAt, b.first = b.version, nil
		if at := slices.IndexFunc(b.rows, func(g *group) bool { return len(g.seeks) > 0 && left[g.at] > 0 && !g.stuck && g.steps < unreachable }); at >= 0 {
			b.first = b.rows[at]
		}
	}
	return b.first
}

// wants counts by tally the pods left that seek such pods.
func (b *bond) wants(left []int64) map[int]int64 {
	if b.wantsAt != b.version {
		b.wantsAt, b.wanting = b.version, map[int]int64{}
		for _, g := range b.rows {
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
