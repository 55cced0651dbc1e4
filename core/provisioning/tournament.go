package provisioning

import (
	"cmp"
	"math"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/supply"
)

// tournament finds the best instance type for an errand: options are filled with pods, and the one that holds the most
// worth for its cost wins. Its fields are kept for their memory.
type tournament struct {
	pr      *Provisioner
	scratch supply.Load       // the load being filled
	winner  supply.Load       // the best so far
	tried   map[[3]int64]bool // loads that were tried for a group
	filled  []supply.Load     // see recordFilled
}

// wasteful is the share of its best yield below which an instance does not grow for a group: pods of the group may fill
// gaps, but an expensive instance that others need is not made larger for them.
const wasteful = 0.7

// triesMax is how many options are filled to find the best one. They are
// tried by falling yield when full, so the best is nearly always early.
const triesMax = 48

// fewPods is how many pods at most are always tried on one instance together.
const fewPods = 64

// Errand is what an instance is for: one pod of the group, in one of its ways, with its co-located set if it has one.
type Errand struct {
	g          *demand.Group
	way        *supply.Way
	colocation *demand.Colocation
	whole      bool // the co-located set is not to be torn apart: some instance has room for it
}

// pick chooses the next instance of the pool. Its first pod is one of the errand's group, which is the hardest one left.
// Options that may have it are filled with pods; the one that holds the most worth for its cost wins, and the cheaper
// one of equals. If a single instance can have all that is left for no more than several would cost, it wins: fewer
// instances mean fewer daemon pods.
func (t *tournament) pick(b *supply.Candidate, e Errand) (supply.Load, bool) {
	t.pr.queues.thin()
	left := t.pr.outstanding.left
	best, last := t.pr.tournament.best(b, e, left, t.pr.outstanding.of(b.Weight))
	if best == nil {
		return supply.Load{}, false
	}
	if last != nil && t.pr.tournament.severalCost(b, e.g, *best, left, b.Cost[last.Option]) >= b.Cost[last.Option] {
		best = last
	}
	if b.LimitCost(best.Option) > 0 {
		best.Modest = best.Option + 1
	}
	t.stabilize(b, best)
	t.pr.fill(b, best, left, nil)
	return *best, true
}

// best fills promising options. It returns the winner and, if one instance can have all that is left for this pool, the
// cheapest such instance. Of instances for a co-located set, one with more pods of it wins.
func (t *tournament) best(b *supply.Candidate, e Errand, left []int64, all *amounts) (best, last *supply.Load) {
	total := amount.Value(t.pr.Values.Worth, all.sum)
	most, tries := 0.0, 0
	torn := e.colocation != nil && !e.whole
	clear(t.tried)
	t.filled = t.filled[:0]
	for _, i := range t.byPromise(b, e) {
		bounded := !torn && (best == nil || e.colocation == nil || best.Bound == e.colocation.Pods)
		if best != nil && (b.Yield[i] < most && bounded || tries >= triesMax || t.pr.tournament.hurry()) {
			break
		}
		if !b.WithinLimits.Has(i) || !e.fits(b, i) {
			continue
		}
		if t.pr.Effort.Steps++; best != nil && total/b.Cost[i] < most && bounded {
			continue
		}
		key := [3]int64{int64(b.Options[i].Kind), int64(b.Cost[i]), int64(b.Regions.Of(i))}
		if t.tried[key] {
			continue
		}
		t.tried[key] = true
		tries++
		l := &t.scratch
		if !t.try(b, l, i, left, e) {
			continue
		}
		score := amount.Value(t.pr.Values.Worth, l.Sum) / b.Cost[i]
		if best != nil && l.Bound != best.Bound {
			if l.Bound > best.Bound {
				best.Copy(l)
				most, last = score, nil
			}
			continue
		}
		if best == nil || score > most || score == most && b.Cost[i] < b.Cost[best.Option] {
			best, most = &t.winner, score
			best.Copy(l)
		}
		if !torn && slices.Equal(l.Sum, all.sum) && (last == nil || b.Cost[i] < b.Cost[last.Option]) &&
			(all.pods <= fewPods || total/b.Cost[i] > 0.8) {
			last = copyOf(l)
		}
	}
	if best != nil {
		best = copyOf(best)
	}
	return best, last
}

// try makes the load what an instance of the option would have for the errand.
func (t *tournament) try(b *supply.Candidate, l *supply.Load, option int, left []int64, e Errand) bool {
	if like := t.filledAlike(b, option, e); like != nil {
		l.Copy(like)
		l.Option = option
		return true
	}
	l.Reset(option)
	if !t.seed(b, l, left, e) {
		return false
	}
	t.pr.fill(b, l, left, e.g)
	if e.colocation == nil && !t.pr.filler.cramped {
		t.recordFilled(l)
	}
	return true
}

// filledAlike returns a load that recordFilled kept of a larger instance in the same domains, if the option has room for
// it too: the option would be filled with the same pods. It is nil where there is none.
func (t *tournament) filledAlike(b *supply.Candidate, option int, e Errand) *supply.Load {
	if e.colocation != nil {
		return nil
	}
	free := b.Free[b.Options[option].Kind]
	for i := range t.filled {
		l := &t.filled[i]
		if b.Regions.Of(l.Option) == b.Regions.Of(option) && amount.Fits(free, l.Sum) && amount.Covers(b.Free[b.Options[l.Option].Kind], free) &&
			b.Bears(l, b.Options[option].Kind) && t.allDrive(b, option, l, e.g) {
			return l
		}
	}
	return nil
}

// allDrive reports whether an instance of the option may grow for all groups of the load.
func (t *tournament) allDrive(b *supply.Candidate, option int, l *supply.Load, seed *demand.Group) bool {
	return !slices.ContainsFunc(l.Parts, func(p supply.Part) bool {
		_, joins := t.pr.Ask(b, t.pr.Groups[p.Group]).Joins(option, l.Custom)
		return !joins || t.pr.Groups[p.Group] != seed && !t.pr.tournament.drives(b, option, t.pr.Groups[p.Group], seed)
	})
}

// recordFilled keeps a copy of a load that no pod was too large for, in the memory of an earlier one if there is any.
func (t *tournament) recordFilled(l *supply.Load) {
	n := len(t.filled)
	if n == cap(t.filled) {
		t.filled = append(t.filled, supply.Load{})
	}
	t.filled = t.filled[:n+1]
	t.filled[n].Copy(l)
}

// fits reports whether an instance of the option may have the first pods of the errand.
func (e *Errand) fits(b *supply.Candidate, option int) bool {
	free := b.Free[b.Options[option].Kind]
	switch {
	case !e.way.Options.Has(option):
		return false
	case e.whole:
		return e.colocation.Options[b.At].Has(option) && amount.Fits(free, e.colocation.Sum)
	}
	return amount.Fits(free, e.g.Need)
}

// byPromise lists options in the order in which they are tried: by falling yield and, if a co-located set is too large
// for any instance, those first that have room for the greatest part of it.
func (t *tournament) byPromise(b *supply.Candidate, e Errand) []int {
	if e.colocation == nil || e.whole {
		return b.ByYield
	}
	part := make([]float64, len(b.Options))
	for i, o := range b.Options {
		part[i] = amount.Share(b.Free[o.Kind], e.colocation.Sum)
	}
	out := slices.Clone(b.ByYield)
	slices.SortStableFunc(out, func(x, y int) int { return cmp.Compare(part[y], part[x]) })
	return out
}

// seed puts the first pods on an empty instance: one of the group, or as much of its co-located set as there is room for.
func (t *tournament) seed(b *supply.Candidate, l *supply.Load, left []int64, e Errand) bool {
	f := &t.pr.filler
	f.start(t.pr, b, l, left, nil)
	if e.colocation == nil {
		return f.add(e.g, e.way, 1) > 0
	}
	for _, m := range e.colocation.Parts {
		w, ok := t.pr.Ask(b, m.Group).Joins(l.Option, l.Custom)
		if m.Group == e.g {
			_, conflict := l.Custom.Conflict(e.way.Term.Custom)
			w, ok = e.way, !conflict
		}
		if ok {
			l.Bound += f.add(m.Group, w, m.N)
		}
	}
	return f.taken[e.g.At] > 0
}

func copyOf(l *supply.Load) *supply.Load {
	out := l.Clone()
	return &out
}

// hurry reports whether half of the effort is used up. The rest is used to place all pods, rather than to place them
// well.
func (t *tournament) hurry() bool {
	return t.pr.Effort.Hurry()
}

// severalCost is what several instances cost for all pods that a single one could have: the first, and those that would
// be picked after it. It stops counting at enough.
func (t *tournament) severalCost(b *supply.Candidate, g *demand.Group, first supply.Load, left []int64, enough float64) float64 {
	left = slices.Clone(left)
	all := t.pr.outstanding.of(b.Weight).clone()
	defer t.pr.Affinities.touchAll(left)
	sum := 0.0
	for next := &first; next != nil; {
		sum += b.Cost[next.Option]
		if sum >= enough {
			return sum
		}
		for _, p := range next.Parts {
			left[p.Group] -= p.N
			t.pr.Groups[p.Group].Touch()
			if o := t.pr.Groups[p.Group]; o.Counted && t.pr.tournament.atHome(b, o) {
				all.add(o, -p.N)
			}
		}
		i := slices.IndexFunc(t.pr.Groups[g.At:], func(g *demand.Group) bool { return left[g.At] > 0 && t.pr.tournament.atHome(b, g) })
		if i < 0 {
			return sum
		}
		g = t.pr.Groups[g.At+i]
		ways := t.pr.Ask(b, g).Ways
		if len(ways) == 0 {
			break
		}
		e := Errand{g: g, way: &ways[0], colocation: t.pr.Affinities.colocationOf(g, left)}
		e.whole = e.colocation != nil && b.FirstHaving(e.way, e.colocation.Options[b.At], e.colocation.Sum) >= 0
		next, _ = t.best(b, e, left, all)
	}
	return math.Inf(1)
}

// mayJoin reports whether pods of the group may be added to an instance of the option. With a seed, the instance must be
// one that may grow for the group; without one, any group may fill gaps.
func (t *tournament) mayJoin(b *supply.Candidate, option int, g, seed *demand.Group) bool {
	return seed == nil || t.drives(b, option, g, seed)
}

// drives reports whether an instance of the option may grow for the group: the pool is of the group's tier, the option is
// not wasteful for it, and pods of a lower priority than the seed's do not use up limits.
func (t *tournament) drives(b *supply.Candidate, option int, g, seed *demand.Group) bool {
	if !t.atHome(b, g) || b.Remaining != nil && g.Shape.Priority < seed.Shape.Priority {
		return false
	}
	return b.Yield[option] >= wasteful*g.Best
}

// atHome reports whether instances for the group are launched from the pool now.
func (t *tournament) atHome(b *supply.Candidate, g *demand.Group) bool { return b.Weight == g.Home }

// stabilize moves the load to the cheapest option that holds it.
func (t *tournament) stabilize(b *supply.Candidate, l *supply.Load) {
	if i := b.FirstHolding(l); i >= 0 {
		l.Option = i
	}
}
