package place

import (
	"math"
	"slices"
	"sort"

	"github.com/daemok/daemok/core/constraint"
)

// load is what one new machine is to hold.
type load struct {
	option  int // what it was made for; a cheaper one may do
	parts   []part
	sum     []int64
	custom  constraint.Requirements
	relaxed bool
}

// part is n pods of one group, by one of its alternatives.
type part struct {
	group int
	n     int64
	way   *way
}

// wasteful is the share of its best yield below which an option does not grow
// for a group: its pods ride along in gaps, but a dear machine that others
// need is not made larger for them.
const wasteful = 0.7

// pick chooses the next machine of the pool, for which the group is the
// hardest pod left: every kind that may have it is filled with pods in order,
// and the one that holds the most worth for its cost wins, the cheaper one of
// equals. Where a single machine can have all that is left for no more than
// several would cost, it is taken: fewer machines, fewer daemon pods.
func (r *run) pick(b *buyer, w *way, g *group) (load, bool) {
	left := r.lefts()
	best, last, ok := r.tournament(b, w, g, left)
	if !ok {
		return load{}, false
	}
	if last != nil && r.severalCost(b, w, g, best, left, b.cost[last.option]) >= b.cost[last.option] {
		best = *last
	}
	r.settle(b, &best)
	r.fill(b, &best, left, nil)
	return best, true
}

func (r *run) lefts() []int64 {
	out := make([]int64, len(r.groups))
	for i, g := range r.groups {
		out[i] = g.left()
	}
	return out
}

// tournament fills every promising option. It returns the winner and, if one
// machine can have all that is left for this pool, the cheapest such machine.
func (r *run) tournament(b *buyer, w *way, g *group, left []int64) (best load, last *load, ok bool) {
	most := 0.0
	all := r.driven(b, g, left)
	tried := map[[2]int64]bool{}
	for _, i := range b.byYield {
		if b.yield[i] < most && ok {
			break
		}
		if !w.options.Has(i) || !b.within.Has(i) || !fits(b.free[b.Options[i].Kind], g.need) {
			continue
		}
		key := [2]int64{int64(b.Options[i].Kind), int64(b.cost[i])}
		if tried[key] {
			continue
		}
		tried[key] = true
		l := r.loadFor(b, i, w, g, left)
		score := value(r.worth, l.sum) / b.cost[i]
		if !ok || score > most || score == most && b.cost[i] < b.cost[best.option] {
			best, most, ok = l, score, true
		}
		if slices.Equal(l.sum, all) && (last == nil || b.cost[i] < b.cost[last.option]) {
			last = &l
		}
		if r.spent(0) || r.options.Steps > 0 && r.steps > r.options.Steps/2 {
			break
		}
	}
	return best, last, ok
}

// driven sums up all that is left for which machines of this pool may grow.
func (r *run) driven(b *buyer, seed *group, left []int64) []int64 {
	sum := make([]int64, len(r.dims))
	for _, g := range r.groups[seed.at:] {
		if left[g.at] > 0 && g.home == b.Weight {
			take(sum, g.need, -left[g.at])
		}
	}
	return sum
}

// severalCost is what is spent until all is placed that the single machine
// could have, by picking on; it stops counting at enough.
func (r *run) severalCost(b *buyer, w *way, g *group, first load, left []int64, enough float64) float64 {
	left = slices.Clone(left)
	sum := 0.0
	for next := first; ; {
		sum += b.cost[next.option]
		for _, p := range next.parts {
			left[p.group] -= p.n
		}
		if sum >= enough {
			return sum
		}
		for g.at < len(r.groups)-1 && (left[g.at] == 0 || g.home != b.Weight) {
			g = r.groups[g.at+1]
		}
		if left[g.at] == 0 || g.home != b.Weight {
			return sum
		}
		a := b.ask(g, len(r.groups))
		if len(a.ways) == 0 {
			return math.Inf(1)
		}
		var ok bool
		if next, _, ok = r.tournament(b, &a.ways[0], g, left); !ok {
			return math.Inf(1)
		}
	}
}

// loadFor fills one option: the seed first, then the groups after it that a
// machine may grow for.
func (r *run) loadFor(b *buyer, option int, w *way, seed *group, left []int64) load {
	l := load{option: option, sum: make([]int64, len(r.dims))}
	l.add(seed, w, min(left[seed.at], count(b.free[b.Options[option].Kind], seed.need)))
	r.fill(b, &l, left, seed)
	return l
}

// fill adds pods in order while there is room under the load's option: with a
// seed, of the groups after it that the machine may grow for; without one, of
// any group, as riders.
func (r *run) fill(b *buyer, l *load, left []int64, seed *group) {
	room := slices.Clone(b.free[b.Options[l.option].Kind])
	take(room, l.sum, 1)
	from := 0
	if seed != nil {
		from = seed.at + 1
	}
	for i := from; i < len(r.groups); {
		g := r.groups[i]
		if g.need[dimCPU] > room[dimCPU] {
			i = r.skip(i, room[dimCPU])
			continue
		}
		i++
		n := min(left[g.at]-l.has(g.at, seed == nil), count(room, g.need))
		if r.steps++; n <= 0 || seed != nil && !r.drives(b, l.option, g, seed) {
			continue
		}
		if w, ok := b.ask(g, len(r.groups)).joins(l.option, l.custom); ok {
			l.add(g, w, n)
			take(room, g.need, n)
		}
	}
}

// skip jumps over groups of the same priority that ask for too much cpu.
func (r *run) skip(from int, cpu int64) int {
	priority := r.groups[from].shape.Priority
	return from + sort.Search(len(r.groups)-from, func(k int) bool {
		g := r.groups[from+k]
		return g.shape.Priority != priority || g.need[dimCPU] <= cpu
	})
}

// drives reports whether a machine of the option may grow for the group: its
// own pools are of this weight, the option is not wasteful for it, and it
// does not take what a limit leaves from pods of higher priority.
func (r *run) drives(b *buyer, option int, g, seed *group) bool {
	if g.home != b.Weight || b.limits != nil && g.shape.Priority < seed.shape.Priority {
		return false
	}
	return b.yield[option] >= wasteful*r.bestYield(g)
}

// bestYield is the highest yield of any option that the group may have in the
// pools of its weight.
func (r *run) bestYield(g *group) float64 {
	best := 0.0
	for _, b := range r.buyers {
		if b.Weight == g.home {
			best = max(best, b.ask(g, len(r.groups)).best)
		}
	}
	return best
}

func (l *load) add(g *group, w *way, n int64) {
	if n <= 0 {
		return
	}
	l.parts = append(l.parts, part{g.at, n, w})
	take(l.sum, g.need, -n)
	l.custom = l.custom.AndAll(w.term.Custom)
}

// has returns how many pods of the group the load holds already; look is
// false where it cannot hold any.
func (l *load) has(at int, look bool) int64 {
	if !look {
		return 0
	}
	var n int64
	for _, p := range l.parts {
		if p.group == at {
			n += p.n
		}
	}
	return n
}

// settle moves the load to the cheapest option that holds it.
func (r *run) settle(b *buyer, l *load) {
	options := b.together(l)
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		if fits(b.free[b.Options[i].Kind], l.sum) {
			l.option = i
			return
		}
	}
}
