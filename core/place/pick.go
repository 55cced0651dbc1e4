package place

import (
	"math"
	"slices"
)

// wasteful is the share of its best yield below which an option does not grow
// for a group: its pods ride along in gaps, but a dear machine that others
// need is not made larger for them.
const wasteful = 0.7

// triesMax is how many options are filled to find the best one. They are
// tried by falling yield when full, so the best is nearly always early.
const triesMax = 48

// fewPods is how many pods at most are always tried on one machine together.
const fewPods = 64

// pick chooses the next machine of the pool, for which the group is the
// hardest pod left: kinds that may have it are filled with pods, and the one
// that holds the most worth for its cost wins, the cheaper one of equals.
// Where a single machine can have all that is left for no more than several
// would cost, it is taken: fewer machines, fewer daemon pods.
func (r *run) pick(b *buyer, w *way, g *group) (load, bool) {
	left := r.demand.left
	best, last := r.tournament(b, w, g, left, r.demand.of(b.Weight))
	if best == nil {
		return load{}, false
	}
	if last != nil && r.severalCost(b, g, *best, left, b.cost[last.option]) >= b.cost[last.option] {
		best = last
	}
	r.settle(b, best)
	r.fill(b, best, left, nil)
	return *best, true
}

// tournament fills promising options. It returns the winner and, if one
// machine can have all that is left for this pool, the cheapest such machine.
func (r *run) tournament(b *buyer, w *way, g *group, left []int64, all *amounts) (best, last *load) {
	total := value(r.worth, all.sum)
	most, tries := 0.0, 0
	together := r.board.NearOnHost(g.level.rules)
	clear(r.tried)
	for _, i := range b.byYield {
		if best != nil && (b.yield[i] < most && !together || tries >= triesMax || r.hurry()) {
			break
		}
		kind := b.Options[i].Kind
		if !w.options.Has(i) || !b.within.Has(i) || !fits(b.free[kind], g.need) {
			continue
		}
		if r.steps++; best != nil && total/b.cost[i] < most && !together {
			continue
		}
		key := [3]int64{int64(kind), int64(b.cost[i]), int64(b.regions.of(i))}
		if r.tried[key] {
			continue
		}
		r.tried[key] = true
		tries++
		l := &r.scratch
		l.reset(i)
		if !r.seed(b, l, left, g, w) {
			continue
		}
		r.fill(b, l, left, g)
		score := value(r.worth, l.sum) / b.cost[i]
		if together && best != nil && l.bound != best.bound {
			if l.bound > best.bound {
				best, most = copyOf(l), score
			}
			continue
		}
		if best == nil || score > most || score == most && b.cost[i] < b.cost[best.option] {
			best, most = copyOf(l), score
		}
		if !together && slices.Equal(l.sum, all.sum) && (last == nil || b.cost[i] < b.cost[last.option]) &&
			(all.pods <= fewPods || total/b.cost[i] > 0.8) {
			last = copyOf(l)
		}
	}
	return best, last
}

// seed puts the first pods on an empty machine: one of the group or, if they
// must be beside others on their host, as many as there is room for, with
// those others.
func (r *run) seed(b *buyer, l *load, left []int64, g *group, w *way) bool {
	f := &r.filler
	f.start(r, b, l, left, nil)
	if !r.board.NearOnHost(g.level.rules) {
		return f.add(g, w, 1) > 0
	}
	if f.guests.room(g.kin, g.level) == 0 && !f.bring(g, w) {
		return false
	}
	if _, conflict := l.custom.Conflict(w.term.Custom); conflict {
		return false
	}
	if l.bound = f.add(g, w, left[g.at]); l.bound == 0 {
		return false
	}
	for _, o := range r.groups {
		if o == g || f.free(o) == 0 || !r.board.NearOnHost(o.level.rules) || !r.board.Wants(o.level.rules, g.level.rules) {
			continue
		}
		if way, ok := b.ask(o, len(r.groups)).joins(l.option, l.custom); ok {
			l.bound += f.add(o, way, f.free(o))
		}
	}
	return true
}

func copyOf(l *load) *load {
	out := l.clone()
	return &out
}

// hurry reports whether half of the effort is used up: the rest goes to
// placing all pods rather than to placing them well.
func (r *run) hurry() bool { return r.options.Steps > 0 && r.steps > r.options.Steps/2 }

// severalCost is what is spent until all is placed that a single machine
// could have, by picking on; it stops counting at enough.
func (r *run) severalCost(b *buyer, g *group, first load, left []int64, enough float64) float64 {
	left = slices.Clone(left)
	all := r.demand.of(b.Weight).clone()
	sum := 0.0
	for next := &first; next != nil; {
		sum += b.cost[next.option]
		if sum >= enough {
			return sum
		}
		for _, p := range next.parts {
			left[p.group] -= p.n
			if o := r.groups[p.group]; o.counted && r.atHome(b, o) {
				all.add(o, -p.n)
			}
		}
		i := slices.IndexFunc(r.groups[g.at:], func(g *group) bool { return left[g.at] > 0 && r.atHome(b, g) })
		if i < 0 {
			return sum
		}
		g = r.groups[g.at+i]
		ways := b.ask(g, len(r.groups)).ways
		if len(ways) == 0 {
			break
		}
		next, _ = r.tournament(b, &ways[0], g, left, all)
	}
	return math.Inf(1)
}

// mayJoin reports whether pods of the group may be added to a machine of the
// option. With a seed it must be one that the machine may grow for; any may
// ride along.
func (r *run) mayJoin(b *buyer, option int, g, seed *group) bool {
	return seed == nil || r.drives(b, option, g, seed)
}

// drives reports whether a machine of the option may grow for the group: the
// pool is of its tier, the option is not wasteful for it, and it
// does not take what a limit leaves from pods of higher priority.
func (r *run) drives(b *buyer, option int, g, seed *group) bool {
	if !r.atHome(b, g) || b.limits != nil && g.shape.Priority < seed.shape.Priority {
		return false
	}
	return b.yield[option] >= wasteful*g.best
}

// atHome reports whether the pool is one that the group is bought from.
func (r *run) atHome(b *buyer, g *group) bool { return b.Weight == g.home }

// settle moves the load to the cheapest option that holds it.
func (r *run) settle(b *buyer, l *load) {
	options := b.together(l)
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		if kind := b.Options[i].Kind; fits(b.free[kind], l.sum) && r.bears(b, l, kind) {
			l.option = i
			return
		}
	}
}
