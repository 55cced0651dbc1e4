package place

import (
	"math"
	"slices"
	"sort"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/supply"
)

// filler fills one instance.
type filler struct {
	r       *run
	b       *supply.Candidate
	l       *supply.Load
	left    []int64
	seed    *group // nil: extras fill gaps
	room    []int64
	cursor  []int    // by queue
	found   []*group // by side: where seek stopped
	shut    []bool   // by exclusive set: one of it is in the load
	guests  guests
	taken   []int64              // by group: how many of its pods are in the load
	touched []int                // groups of which some are
	met     map[int]int64        // by tally: pods in the load that seek such pods
	cramped bool                 // some pod was too much for the room that is left
	refused map[*colocation]bool // there is room for them, but they may not come together
}

// emptied is a filler without a load, with the memory of this one.
func (f filler) emptied() filler {
	f.r, f.b, f.l, f.touched, f.taken = nil, nil, nil, nil, nil
	return f
}

// fill adds pods while there is room under the load's option, always from the
// side of which most is free, the largest that fit first: with a seed, of the
// groups that an instance may grow for; without one, of any group.
func (pr *provisioner) fill(b *supply.Candidate, l *supply.Load, left []int64, seed *group) {
	f := &pr.filler
	f.start(pr.run, b, l, left, seed)
	for side, gap := f.next(); side >= 0; side, gap = f.next() {
		f.addFrom(side, gap)
	}
}

// start looks at an instance with the load.
func (f *filler) start(r *run, b *supply.Candidate, l *supply.Load, left []int64, seed *group) {
	f.r, f.b, f.l, f.left, f.seed = r, b, l, left, seed
	kind := b.Options[l.Option].Kind
	f.room = append(f.room[:0], b.Free[kind]...)
	amount.Take(f.room, l.Sum, 1)
	f.cursor = append(f.cursor[:0], make([]int, r.queues.number)...)
	f.found = append(f.found[:0], make([]*group, len(r.queues.sides))...)
	f.shut = append(f.shut[:0], make([]bool, r.queues.exclusive)...)
	if len(f.taken) < len(r.groups) {
		f.taken = make([]int64, len(r.groups))
	}
	for _, at := range f.touched {
		f.taken[at] = 0
	}
	f.touched, f.cramped = f.touched[:0], false
	if f.met == nil {
		f.met, f.refused = map[int]int64{}, map[*colocation]bool{}
	}
	clear(f.met)
	clear(f.refused)
	f.guests.startOn(b, kind)
	for _, p := range l.Parts {
		g := r.groups[p.Group]
		f.guests.add(g.podClass, g.level, p.N)
		f.note(p.Group, p.N)
	}
}

// note counts n pods of the group as being in the load.
func (f *filler) note(group int, n int64) {
	f.taken[group] += n
	f.touched = append(f.touched, group)
	if exclusiveSet := f.r.groups[group].exclusiveSet; exclusiveSet != notExclusive {
		f.shut[exclusiveSet] = n > 0
	}
	for _, s := range f.r.groups[group].seeks {
		f.met[s.Tally] += n
	}
}

// startOn makes the guests those of a new instance of the instance type: its daemon pods.
func (g *guests) startOn(b *supply.Candidate, kind int) {
	g.reset()
	g.ports = append(g.ports, b.Kinds[kind].Ports...)
	b.Bring(g.host, kind)
}

// add adds up to n pods of the group and returns how many there was room for.
func (f *filler) add(g *group, w *supply.Way, n int64) int64 {
	most, first := f.guests.within(f.r.dims, f.room, g)
	n = min(n, most, f.guests.room(g.podClass, g.level))
	if exclusive(g.podClass) {
		n = min(n, 1)
	}
	if n <= 0 {
		return 0
	}
	f.l.Add(g.part(w, n, first), g.need)
	f.note(g.at, n)
	f.guests.add(g.podClass, g.level, n)
	amount.Take(f.room, g.need, n)
	if first != nil {
		amount.Take(f.room, first, 1)
	}
	return n
}

// next chooses the side to fill from: of those with pods of the highest
// priority left, the one with the most free worth. gap is by how much that
// exceeds the free worth of the next one.
func (f *filler) next() (side int, gap float64) {
	side = -1
	var priority int32
	best, second := 0.0, math.Inf(-1)
	for s := range f.r.queues.sides {
		g := f.seek(s)
		if g == nil {
			continue
		}
		free := float64(f.r.values.Worth[s] * float64(f.room[s]))
		switch {
		case side < 0 || g.shape.Priority > priority:
			side, priority, best, second = s, g.shape.Priority, free, math.Inf(-1)
		case g.shape.Priority < priority:
		case free > best:
			side, best, second = s, free, best
		default:
			second = max(second, free)
		}
	}
	return side, best - second
}

// seek moves the cursors of a side's queues to the next group of which a pod
// can be added, and returns the first of these groups.
func (f *filler) seek(side int) *group {
	f.found[side] = nil
	queues := f.r.queues.sides[side]
	for i := range queues {
		l := &queues[i]
		if l.exclusiveSet != notExclusive && f.shut[l.exclusiveSet] {
			continue
		}
		if g := f.seekIn(l, side); g != nil && (f.found[side] == nil || g.rank < f.found[side].rank) {
			f.found[side] = g
		}
	}
	return f.found[side]
}

func (f *filler) seekIn(l *queue, side int) *group {
	at := f.cursor[l.at]
	defer func() { f.cursor[l.at] = at }()
	passed := -1 // the last block that was looked at
	for at < len(l.groups) {
		if at/block != passed {
			if passed = at / block; l.full(passed, f.room) {
				f.cramped = true
				at = (passed + 1) * block
				continue
			}
		}
		g := l.groups[at]
		if g.need[side] > f.room[side] {
			f.cramped = true
			at = skip(l.groups, side, at, f.room[side])
			continue
		}
		f.r.steps++
		if f.free(g) > 0 && f.hopeful(g) && amount.Fits(f.room, g.need) && f.mayJoin(g) && (f.alone(g) || f.colocationFor(g) != nil) {
			return g
		}
		f.cramped = f.cramped || f.free(g) > 0 && !amount.Fits(f.room, g.need)
		at++
	}
	return nil
}

// hopeful says quickly of most pods that seek others which are not there that
// they cannot join: all but the first of their component.
func (f *filler) hopeful(g *group) bool {
	for _, s := range g.seeks {
		if !s.Own && !f.guests.host.Has(s.Tally) {
			return g.component.head(f.left) == g
		}
	}
	return true
}

// mayJoin reports whether pods of the group may be on an instance of the option
// beside what is there, other pods aside.
func (f *filler) mayJoin(g *group) bool {
	if !f.r.tournament.mayJoin(f.b, f.l.Option, g, f.seed) {
		return false
	}
	_, ok := f.r.provisioner.ask(f.b, g).Joins(f.l.Option, f.l.Custom)
	return ok
}

// free is how many pods of the group are left beside those in the load.
func (f *filler) free(g *group) int64 { return f.left[g.at] - f.taken[g.at] }

// spare is how many of them no other pods may need beside them elsewhere.
func (f *filler) spare(g *group) int64 {
	n := f.free(g)
	if g.lone || len(g.gives) == 0 || n <= 0 {
		return n
	}
	wants := g.component.wants(f.left)
	for _, t := range g.gives {
		n -= max(0, wants[t]-f.met[t])
	}
	return n
}

// alone reports whether a pod of the group may join by itself.
func (f *filler) alone(g *group) bool { return f.spare(g) > 0 && f.welcome(g) }

// colocationFor returns the co-located set that a pod of the group would bring with it, if
// there is room for all of it.
func (f *filler) colocationFor(g *group) *colocation {
	if len(g.seeks) == 0 || g.component.head(f.left) != g {
		return nil
	}
	c := f.r.affinities.colocationOf(g, f.left)
	if c == nil || f.refused[c] || !amount.Fits(f.room, c.sum) || c.options[f.b.At] == nil || !c.options[f.b.At].Has(f.l.Option) {
		return nil
	}
	for _, m := range c.parts {
		if f.free(m.g) < m.n || !f.mayJoin(m.g) {
			return nil
		}
	}
	return c
}

// addColocation adds a co-located set, all of it or nothing.
func (f *filler) addColocation(c *colocation) {
	f.refused[c] = !f.tryColocation(c)
}

func (f *filler) tryColocation(c *colocation) bool {
	before := f.l.Clone()
	room, ports, claims := slices.Clone(f.room), len(f.guests.ports), len(f.guests.claims)
	for i, m := range c.parts {
		n := f.join(m)
		if n == m.n {
			continue
		}
		f.forget(m.g, n)
		for _, x := range c.parts[:i] {
			f.forget(x.g, x.n)
		}
		f.room, f.guests.ports, f.guests.claims = room, f.guests.ports[:ports], f.guests.claims[:claims]
		*f.l = before
		return false
	}
	return true
}

// join adds pods of one group of a co-located set and returns how many there was room for.
func (f *filler) join(m member) int64 {
	w, ok := f.r.provisioner.ask(f.b, m.g).Joins(f.l.Option, f.l.Custom)
	if !ok {
		return 0
	}
	return f.add(m.g, w, m.n)
}

// forget takes back that n pods of the group were added, amounts and load
// aside.
func (f *filler) forget(g *group, n int64) {
	if n > 0 {
		f.note(g.at, -n)
		f.guests.host.Put(g.level.rules, -n)
	}
}

// addFrom adds pods of the group at the side's cursor until another side has
// more free worth.
func (f *filler) addFrom(side int, gap float64) {
	g := f.found[side]
	if !f.alone(g) {
		f.addColocation(f.colocationFor(g))
		return
	}
	n := min(f.spare(g), amount.Count(f.room, g.need))
	if each := float64(f.r.values.Worth[side] * float64(g.need[side])); each > 0 && gap/each < float64(n) {
		n = max(1, int64(math.Ceil(gap/each)))
	}
	w, _ := f.r.provisioner.ask(f.b, g).Joins(f.l.Option, f.l.Custom)
	f.add(g, w, n)
}

// welcome reports whether pods that are on the instance let one of the group
// join.
func (f *filler) welcome(g *group) bool {
	if g.podClass.plain(g.level) {
		return true
	}
	n, _ := f.guests.within(f.r.dims, f.room, g)
	return n > 0 && f.guests.room(g.podClass, g.level) > 0
}

// skip jumps over groups of the same priority that ask for too much.
func skip(list []*group, side, from int, free int64) int {
	priority := list[from].shape.Priority
	return from + sort.Search(len(list)-from, func(k int) bool {
		g := list[from+k]
		return g.shape.Priority != priority || g.need[side] <= free
	})
}
