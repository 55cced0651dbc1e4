package place

import (
	"cmp"
	"math"
	"slices"

	"github.com/daemok/daemok/core/amount"
)

// tournament finds the best instance type for an errand: options are filled with pods, and the one that holds the most
// worth for its cost wins. Its fields are kept for their memory.
type tournament struct {
	run     *run
	scratch load              // likewise
	winner  load              // likewise, see tournament
	tried   map[[3]int64]bool // likewise
	filled  []load            // for trial; likewise
}

// wasteful is the share of its best yield below which an option does not grow
// for a group: its pods ride along in gaps, but an expensive instance that others
// need is not made larger for them.
const wasteful = 0.7

// triesMax is how many options are filled to find the best one. They are
// tried by falling yield when full, so the best is nearly always early.
const triesMax = 48

// fewPods is how many pods at most are always tried on one instance together.
const fewPods = 64

// errand is what an instance is sought for: one pod of the group, in one of its
// ways, with its co-located set if it has one.
type errand struct {
	g          *group
	way        *way
	colocation *colocation
	whole      bool // the co-located set is not to be torn apart: some instance has room for it
}

// pick chooses the next instance of the pool, for which the group is the
// hardest pod left: instance types that may have it are filled with pods, and the one
// that holds the most worth for its cost wins, the cheaper one of equals.
// Where a single instance can have all that is left for no more than several
// would cost, it is taken: fewer instances, fewer daemon pods.
func (t *tournament) pick(b *candidate, e errand) (load, bool) {
	t.run.queues.thin()
	left := t.run.provisioner.demand.left
	best, last := t.run.tournament.best(b, e, left, t.run.provisioner.demand.of(b.Weight))
	if best == nil {
		return load{}, false
	}
	if last != nil && t.run.tournament.severalCost(b, e.g, *best, left, b.cost[last.option]) >= b.cost[last.option] {
		best = last
	}
	if b.limitCost(b.Options[best.option].Kind) > 0 {
		best.modest = b.Options[best.option].Kind + 1
	}
	t.stabilize(b, best)
	t.run.provisioner.fill(b, best, left, nil)
	return *best, true
}

// best fills promising options. It returns the winner and, if one
// instance can have all that is left for this pool, the cheapest such instance.
// Of instances for a co-located set one that has more pods of it comes first.
func (t *tournament) best(b *candidate, e errand, left []int64, all *amounts) (best, last *load) {
	total := amount.Value(t.run.values.worth, all.sum)
	most, tries := 0.0, 0
	torn := e.colocation != nil && !e.whole
	clear(t.tried)
	t.filled = t.filled[:0]
	for _, i := range t.byPromise(b, e) {
		bounded := !torn && (best == nil || e.colocation == nil || best.bound == e.colocation.pods)
		if best != nil && (b.yield[i] < most && bounded || tries >= triesMax || t.run.tournament.hurry()) {
			break
		}
		if !b.within.Has(i) || !e.fits(b, i) {
			continue
		}
		if t.run.steps++; best != nil && total/b.cost[i] < most && bounded {
			continue
		}
		key := [3]int64{int64(b.Options[i].Kind), int64(b.cost[i]), int64(b.regions.of(i))}
		if t.tried[key] {
			continue
		}
		t.tried[key] = true
		tries++
		l := &t.scratch
		if !t.try(b, l, i, left, e) {
			continue
		}
		score := amount.Value(t.run.values.worth, l.sum) / b.cost[i]
		if best != nil && l.bound != best.bound {
			if l.bound > best.bound {
				best.copy(l)
				most, last = score, nil
			}
			continue
		}
		if best == nil || score > most || score == most && b.cost[i] < b.cost[best.option] {
			best, most = &t.winner, score
			best.copy(l)
		}
		if !torn && slices.Equal(l.sum, all.sum) && (last == nil || b.cost[i] < b.cost[last.option]) &&
			(all.pods <= fewPods || total/b.cost[i] > 0.8) {
			last = copyOf(l)
		}
	}
	if best != nil {
		best = copyOf(best)
	}
	return best, last
}

// try makes the load what an instance of the option would have for the errand.
func (t *tournament) try(b *candidate, l *load, option int, left []int64, e errand) bool {
	if like := t.filledAlike(b, option, e); like != nil {
		l.copy(like)
		l.option = option
		return true
	}
	l.reset(option)
	if !t.seed(b, l, left, e) {
		return false
	}
	t.run.provisioner.fill(b, l, left, e.g)
	if e.colocation == nil && !t.run.provisioner.filler.cramped {
		t.recordFilled(l)
	}
	return true
}

// filledAlike returns a load with which a larger instance in the same domains
// was filled, all that may be there, though there is room for it under the
// option too: that would be filled with the same pods. It is nil where there is
// none.
func (t *tournament) filledAlike(b *candidate, option int, e errand) *load {
	if e.colocation != nil {
		return nil
	}
	free := b.free[b.Options[option].Kind]
	for i := range t.filled {
		l := &t.filled[i]
		if b.regions.of(l.option) == b.regions.of(option) && amount.Fits(free, l.sum) && amount.Covers(b.free[b.Options[l.option].Kind], free) &&
			b.bears(l, b.Options[option].Kind) && t.allDrive(b, option, l, e.g) {
			return l
		}
	}
	return nil
}

// allDrive reports whether an instance of the option may grow for all of the load.
func (t *tournament) allDrive(b *candidate, option int, l *load, seed *group) bool {
	return !slices.ContainsFunc(l.parts, func(p part) bool {
		_, joins := t.run.provisioner.ask(b, t.run.groups[p.group]).joins(option, l.custom)
		return !joins || t.run.groups[p.group] != seed && !t.run.tournament.drives(b, option, t.run.groups[p.group], seed)
	})
}

// recordFilled keeps a copy of a load, in the memory of an earlier one if there
// is any.
func (t *tournament) recordFilled(l *load) {
	n := len(t.filled)
	if n == cap(t.filled) {
		t.filled = append(t.filled, load{})
	}
	t.filled = t.filled[:n+1]
	t.filled[n].copy(l)
}

// fits reports whether the option may be for the errand.
func (e *errand) fits(b *candidate, option int) bool {
	free := b.free[b.Options[option].Kind]
	switch {
	case !e.way.options.Has(option):
		return false
	case e.whole:
		return e.colocation.options[b.at].Has(option) && amount.Fits(free, e.colocation.sum)
	}
	return amount.Fits(free, e.g.need)
}

// byPromise lists options in the order in which they are tried: by falling
// yield and, where a co-located set is too much for any instance, those first that have
// room for the greatest part of it.
func (t *tournament) byPromise(b *candidate, e errand) []int {
	if e.colocation == nil || e.whole {
		return b.byYield
	}
	part := make([]float64, len(b.Options))
	for i, o := range b.Options {
		part[i] = amount.Share(b.free[o.Kind], e.colocation.sum)
	}
	out := slices.Clone(b.byYield)
	slices.SortStableFunc(out, func(x, y int) int { return cmp.Compare(part[y], part[x]) })
	return out
}

// seed puts the first pods on an empty instance: one of the group, or its co-located set
// as far as there is room.
func (t *tournament) seed(b *candidate, l *load, left []int64, e errand) bool {
	f := &t.run.provisioner.filler
	f.start(t.run, b, l, left, nil)
	if e.colocation == nil {
		return f.add(e.g, e.way, 1) > 0
	}
	for _, m := range e.colocation.parts {
		w, ok := t.run.provisioner.ask(b, m.g).joins(l.option, l.custom)
		if m.g == e.g {
			_, conflict := l.custom.Conflict(e.way.term.Custom)
			w, ok = e.way, !conflict
		}
		if ok {
			l.bound += f.add(m.g, w, m.n)
		}
	}
	return f.taken[e.g.at] > 0
}

func copyOf(l *load) *load {
	out := l.clone()
	return &out
}

// hurry reports whether half of the effort is used up: the rest goes to
// placing all pods rather than to placing them well.
func (t *tournament) hurry() bool {
	return t.run.options.Steps > 0 && t.run.steps > t.run.options.Steps/2
}

// severalCost is what is spent until all is placed that a single instance
// could have, by picking on; it stops counting at enough.
func (t *tournament) severalCost(b *candidate, g *group, first load, left []int64, enough float64) float64 {
	left = slices.Clone(left)
	all := t.run.provisioner.demand.of(b.Weight).clone()
	defer t.run.affinities.touchAll(left)
	sum := 0.0
	for next := &first; next != nil; {
		sum += b.cost[next.option]
		if sum >= enough {
			return sum
		}
		for _, p := range next.parts {
			left[p.group] -= p.n
			t.run.groups[p.group].touch()
			if o := t.run.groups[p.group]; o.counted && t.run.tournament.atHome(b, o) {
				all.add(o, -p.n)
			}
		}
		i := slices.IndexFunc(t.run.groups[g.at:], func(g *group) bool { return left[g.at] > 0 && t.run.tournament.atHome(b, g) })
		if i < 0 {
			return sum
		}
		g = t.run.groups[g.at+i]
		ways := t.run.provisioner.ask(b, g).ways
		if len(ways) == 0 {
			break
		}
		e := errand{g: g, way: &ways[0], colocation: t.run.affinities.colocationOf(g, left)}
		e.whole = e.colocation != nil && b.firstHaving(e.way, e.colocation.options[b.at], e.colocation.sum) >= 0
		next, _ = t.best(b, e, left, all)
	}
	return math.Inf(1)
}

// mayJoin reports whether pods of the group may be added to an instance of the
// option. With a seed it must be one that the instance may grow for; any may
// ride along.
func (t *tournament) mayJoin(b *candidate, option int, g, seed *group) bool {
	return seed == nil || t.drives(b, option, g, seed)
}

// drives reports whether an instance of the option may grow for the group: the
// pool is of its tier, the option is not wasteful for it, and it
// does not take what a limit leaves from pods of higher priority.
func (t *tournament) drives(b *candidate, option int, g, seed *group) bool {
	if !t.atHome(b, g) || b.limits != nil && g.shape.Priority < seed.shape.Priority {
		return false
	}
	return b.yield[option] >= wasteful*g.best
}

// atHome reports whether the pool is one that the group is launched from.
func (t *tournament) atHome(b *candidate, g *group) bool { return b.Weight == g.home }

// stabilize moves the load to the cheapest option that holds it.
func (t *tournament) stabilize(b *candidate, l *load) {
	if i := b.firstHolding(l); i >= 0 {
		l.option = i
	}
}

// firstHolding returns the first option in the order of launching that may have
// the whole load, or -1.
func (b *candidate) firstHolding(l *load) int {
	if i, ok := b.firstOfFront(l); ok {
		return i
	}
	options := b.together(l)
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		if kind := b.Options[i].Kind; l.fitsIn(b.free[kind]) && b.bears(l, kind) {
			return i
		}
	}
	return -1
}

// firstOfFront is firstHolding where the front of one lot says it: no limit
// forbids any of it, and no daemon pods are in the way.
func (b *candidate) firstOfFront(l *load) (option int, ok bool) {
	if b.limits != nil || len(l.parts) == 0 || l.room != nil {
		return -1, false
	}
	lot := l.parts[0].way.lot
	if slices.ContainsFunc(l.parts, func(p part) bool { return p.way.lot != lot }) {
		return -1, false
	}
	option = b.first(lot, l.sum)
	return option, option >= 0 && b.within.Has(option) && b.bears(l, b.Options[option].Kind)
}
