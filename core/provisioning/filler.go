package provisioning

import (
	"math"
	"slices"
	"sort"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/supply"
)

// filler fills one instance.
type filler struct {
	pr      *Provisioner
	b       *supply.Candidate
	l       *supply.Load
	left    []int64
	seed    *demand.Group // nil: pods of any group fill gaps
	room    []int64
	cursor  []int           // by queue
	found   []*demand.Group // by side: where seek stopped
	shut    []bool          // by exclusive set: a pod of it is in the load
	guests  demand.Guests
	taken   []int64                     // by group: how many of its pods are in the load
	touched []int                       // groups of which some pods are in the load
	met     map[int]int64               // by tally: pods in the load that seek such pods
	cramped bool                        // some pod was too large for the room that is left
	refused map[*demand.Colocation]bool // there is room for them, but their pods may not come together
}

// emptied returns a filler without a load that has the memory of this one.
func (f filler) emptied() filler {
	f.pr, f.b, f.l, f.touched, f.taken = nil, nil, nil, nil, nil
	return f
}

// fill adds pods to the load while its option has room: always from the side with the most free worth, the largest
// pods that fit first. With a seed it adds only groups that the instance may grow for; without one, any group.
func (pr *Provisioner) fill(b *supply.Candidate, l *supply.Load, left []int64, seed *demand.Group) {
	f := &pr.filler
	f.start(pr, b, l, left, seed)
	for side, gap := f.next(); side >= 0; side, gap = f.next() {
		f.addFrom(side, gap)
	}
}

// start prepares the filler for an instance with the load.
func (f *filler) start(pr *Provisioner, b *supply.Candidate, l *supply.Load, left []int64, seed *demand.Group) {
	f.pr, f.b, f.l, f.left, f.seed = pr, b, l, left, seed
	kind := b.Options[l.Option].Kind
	f.room = append(f.room[:0], b.Free[kind]...)
	amount.Take(f.room, l.Sum, 1)
	f.cursor = append(f.cursor[:0], make([]int, pr.queues.number)...)
	f.found = append(f.found[:0], make([]*demand.Group, len(pr.queues.sides))...)
	f.shut = append(f.shut[:0], make([]bool, pr.queues.exclusive)...)
	if len(f.taken) < len(pr.Groups) {
		f.taken = make([]int64, len(pr.Groups))
	}
	for _, at := range f.touched {
		f.taken[at] = 0
	}
	f.touched, f.cramped = f.touched[:0], false
	if f.met == nil {
		f.met, f.refused = map[int]int64{}, map[*demand.Colocation]bool{}
	}
	clear(f.met)
	clear(f.refused)
	f.guests.StartOn(b, kind)
	for _, p := range l.Parts {
		g := pr.Groups[p.Group]
		f.guests.Add(g.PodClass, g.Level, p.N)
		f.note(p.Group, p.N)
	}
}

// note counts n pods of the group as part of the load.
func (f *filler) note(group int, n int64) {
	f.taken[group] += n
	f.touched = append(f.touched, group)
	if exclusiveSet := f.pr.Groups[group].ExclusiveSet; exclusiveSet != notExclusive {
		f.shut[exclusiveSet] = n > 0
	}
	for _, s := range f.pr.Groups[group].Seeks {
		f.met[s.Tally] += n
	}
}

// add adds up to n pods of the group and returns how many there was room for.
func (f *filler) add(g *demand.Group, w *supply.Way, n int64) int64 {
	most, first := f.guests.Within(f.pr.Dims, f.room, g)
	n = min(n, most, f.guests.Room(g.PodClass, g.Level))
	if demand.Exclusive(g.PodClass) {
		n = min(n, 1)
	}
	if n <= 0 {
		return 0
	}
	f.l.Add(g.Part(w, n, first), g.Need)
	f.note(g.At, n)
	f.guests.Add(g.PodClass, g.Level, n)
	amount.Take(f.room, g.Need, n)
	if first != nil {
		amount.Take(f.room, first, 1)
	}
	return n
}

// next chooses the side to fill from: of the sides with pods of the highest priority left, the one with the most free
// worth. The gap is by how much that exceeds the free worth of the second one.
func (f *filler) next() (side int, gap float64) {
	side = -1
	var priority int32
	best, second := 0.0, math.Inf(-1)
	for s := range f.pr.queues.sides {
		g := f.seek(s)
		if g == nil {
			continue
		}
		free := float64(f.pr.Values.Worth[s] * float64(f.room[s]))
		switch {
		case side < 0 || g.Shape.Priority > priority:
			side, priority, best, second = s, g.Shape.Priority, free, math.Inf(-1)
		case g.Shape.Priority < priority:
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
func (f *filler) seek(side int) *demand.Group {
	f.found[side] = nil
	queues := f.pr.queues.sides[side]
	for i := range queues {
		l := &queues[i]
		if l.exclusiveSet != notExclusive && f.shut[l.exclusiveSet] {
			continue
		}
		if g := f.seekIn(l, side); g != nil && (f.found[side] == nil || g.Rank < f.found[side].Rank) {
			f.found[side] = g
		}
	}
	return f.found[side]
}

func (f *filler) seekIn(l *queue, side int) *demand.Group {
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
		if g.Need[side] > f.room[side] {
			f.cramped = true
			at = skip(l.groups, side, at, f.room[side])
			continue
		}
		f.pr.Effort.Steps++
		if f.free(g) > 0 && f.hopeful(g) && amount.Fits(f.room, g.Need) && f.mayJoin(g) && (f.alone(g) || f.colocationFor(g) != nil) {
			return g
		}
		f.cramped = f.cramped || f.free(g) > 0 && !amount.Fits(f.room, g.Need)
		at++
	}
	return nil
}

// hopeful rules out quickly most groups that seek pods which are not on the instance: all but the first one of their
// component.
func (f *filler) hopeful(g *demand.Group) bool {
	for _, s := range g.Seeks {
		if !s.Own && !f.guests.Host.Has(s.Tally) {
			return g.Component.Head(f.left) == g
		}
	}
	return true
}

// mayJoin reports whether the instance may have pods of the group, rules about other pods aside.
func (f *filler) mayJoin(g *demand.Group) bool {
	if !f.pr.tournament.mayJoin(f.b, f.l.Option, g, f.seed) {
		return false
	}
	_, ok := f.pr.Ask(f.b, g).Joins(f.l.Option, f.l.Custom)
	return ok
}

// free is how many pods of the group are left, without those in the load.
func (f *filler) free(g *demand.Group) int64 { return f.left[g.At] - f.taken[g.At] }

// spare is how many of these no other pods may need on another instance.
func (f *filler) spare(g *demand.Group) int64 {
	n := f.free(g)
	if g.Lone || len(g.Gives) == 0 || n <= 0 {
		return n
	}
	wants := g.Component.Wants(f.left)
	for _, t := range g.Gives {
		n -= max(0, wants[t]-f.met[t])
	}
	return n
}

// alone reports whether a pod of the group may join by itself.
func (f *filler) alone(g *demand.Group) bool { return f.spare(g) > 0 && f.welcome(g) }

// colocationFor returns the co-located set that a pod of the group would bring, if there is room for all of it.
func (f *filler) colocationFor(g *demand.Group) *demand.Colocation {
	if len(g.Seeks) == 0 || g.Component.Head(f.left) != g {
		return nil
	}
	c := f.pr.Affinities.colocationOf(g, f.left)
	if c == nil || f.refused[c] || !amount.Fits(f.room, c.Sum) || c.Options[f.b.At] == nil || !c.Options[f.b.At].Has(f.l.Option) {
		return nil
	}
	for _, m := range c.Parts {
		if f.free(m.Group) < m.N || !f.mayJoin(m.Group) {
			return nil
		}
	}
	return c
}

// addColocation adds a co-located set, all of it or nothing.
func (f *filler) addColocation(c *demand.Colocation) {
	f.refused[c] = !f.tryColocation(c)
}

func (f *filler) tryColocation(c *demand.Colocation) bool {
	before := f.l.Clone()
	room, ports, claims := slices.Clone(f.room), len(f.guests.Ports), len(f.guests.Claims)
	for i, m := range c.Parts {
		n := f.join(m)
		if n == m.N {
			continue
		}
		f.forget(m.Group, n)
		for _, x := range c.Parts[:i] {
			f.forget(x.Group, x.N)
		}
		f.room, f.guests.Ports, f.guests.Claims = room, f.guests.Ports[:ports], f.guests.Claims[:claims]
		*f.l = before
		return false
	}
	return true
}

// join adds pods of one group of a co-located set and returns how many there was room for.
func (f *filler) join(m demand.Member) int64 {
	w, ok := f.pr.Ask(f.b, m.Group).Joins(f.l.Option, f.l.Custom)
	if !ok {
		return 0
	}
	return f.add(m.Group, w, m.N)
}

// forget undoes that n pods of the group were added, except for amounts and the load.
func (f *filler) forget(g *demand.Group, n int64) {
	if n > 0 {
		f.note(g.At, -n)
		f.guests.Host.Put(g.Level.Rules, -n)
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
	n := min(f.spare(g), amount.Count(f.room, g.Need))
	if each := float64(f.pr.Values.Worth[side] * float64(g.Need[side])); each > 0 && gap/each < float64(n) {
		n = max(1, int64(math.Ceil(gap/each)))
	}
	w, _ := f.pr.Ask(f.b, g).Joins(f.l.Option, f.l.Custom)
	f.add(g, w, n)
}

// welcome reports whether a pod of the group may join the pods that are on the instance.
func (f *filler) welcome(g *demand.Group) bool {
	if g.PodClass.Plain(g.Level) {
		return true
	}
	n, _ := f.guests.Within(f.pr.Dims, f.room, g)
	return n > 0 && f.guests.Room(g.PodClass, g.Level) > 0
}

// skip returns the position after groups of the same priority that need too much.
func skip(list []*demand.Group, side, from int, free int64) int {
	priority := list[from].Shape.Priority
	return from + sort.Search(len(list)-from, func(k int) bool {
		g := list[from+k]
		return g.Shape.Priority != priority || g.Need[side] <= free
	})
}
