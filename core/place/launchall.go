package place

import (
	"cmp"
	"math"
	"slices"

	"github.com/daemok/daemok/core/amount"
)

// launchAll orders machines for the groups that are left, the hardest first,
// each from the heaviest pools that can have it.
func (r *run) launchAll() {
	r.orderPodGroups()
	r.recordOfferingPools()
	r.evenOut()
	r.demand = r.newDemand()
	r.bind()
	r.findExclusiveSets()
	r.chart()
	r.prices()
	for _, g := range r.groups {
		r.fillExisting(g, r.nextHome(g, math.MaxInt))
	}
	r.sortBySide()
	if r.options.Packer != nil {
		r.launchOneByOne(func(g *group) bool { return !r.distinguishable(g) })
		r.launchTogether()
	}
	r.launchOneByOne(func(*group) bool { return true })
}

// launchOneByOne orders one machine after another for groups that are meant.
func (r *run) launchOneByOne(meant func(*group) bool) {
	for _, g := range r.groups {
		if !meant(g) {
			continue
		}
		for g.left() > 0 && !r.spent(0) && r.launchFor(g) {
			r.reprice()
		}
		r.demand.giveUp(g)
		g.stuck = g.left() > 0
		g.touch()
	}
}

// orderPodGroups puts pods first that must be beside others on their host, since
// they bring these along; then all in the order of placing.
func (r *run) orderPodGroups() {
	before := func(a, b *group) int {
		return cmp.Or(
			cmp.Compare(b.shape.Priority, a.shape.Priority),
			cmp.Compare(rank(r.board.NearOnHost(a.level.rules)), rank(r.board.NearOnHost(b.level.rules))),
			cmp.Compare(a.of.at, b.of.at))
	}
	if !slices.IsSortedFunc(r.groups, before) {
		slices.SortStableFunc(r.groups, before)
	}
	for i, g := range r.groups {
		g.at = i
	}
}

// reprice seeks prices again when half of the worth is placed: what is left
// may be of another kind, such as all memory and little cpu.
func (r *run) reprice() {
	if r.repriceAt <= 0 || r.toPlace() > r.repriceAt {
		return
	}
	r.prices()
	for _, g := range r.groups {
		r.rate(g)
	}
	r.sortBySide()
}

// toPlace is the worth of all that is left.
func (r *run) toPlace() float64 { return value(r.worth, r.demand.all.sum) }

// nextHome returns the highest tier below the given one whose pools can have
// the group at all, and the given one if there is none.
func (r *run) nextHome(g *group, below int) int {
	if g.left() == 0 {
		return below
	}
	home := below
	for _, b := range r.offeringPools {
		if b.Weight < below && (home == below || b.Weight > home) && len(b.ask(g, len(r.groups)).ways) > 0 {
			home = b.Weight
		}
	}
	return home
}

// launchFor orders machines for some pods of the group and what fits beside
// them. It goes on to lighter pools where the heavier may launch no more.
func (r *run) launchFor(g *group) bool {
	e := errand{g: g}
	if g.component != nil {
		e.colocation = r.colocationOf(g, r.demand.left)
		if b, w := r.poolForColocation(g, e.colocation); b != nil {
			e.whole, e.way = true, w
			return r.launchFrom(b, e)
		}
		if e.colocation != nil {
			r.tear(g, e.colocation)
		}
		r.fillExisting(g, r.nextHome(g, math.MaxInt))
	}
	for {
		if b, w := r.cheapestPool(g); b != nil {
			e.way = w
			return r.launchFrom(b, e)
		}
		lighter := r.nextHome(g, g.home)
		if lighter == g.home {
			return false
		}
		r.fillExisting(g, lighter)
	}
}

// poolForColocation returns the pool that has the cheapest machine for the whole
// co-located set within its limits, and how, of the heaviest that have one.
func (r *run) poolForColocation(g *group, c *colocation) (pool *candidate, by *way) {
	if c == nil {
		return nil, nil
	}
	below := math.MaxInt
	for tier := r.nextHome(g, below); tier < below; below, tier = tier, r.nextHome(g, tier) {
		least := priciest
		for _, b := range r.offeringPools {
			a := b.ask(g, len(r.groups))
			if b.Weight != tier {
				continue
			}
			for i := range a.ways {
				if first := b.firstForColocation(&a.ways[i], c); first >= 0 && least.beatenBy(b, first) {
					pool, by, least = b, &a.ways[i], bid{b.cost[first], b.more(first)}
				}
			}
		}
		if pool != nil {
			r.fillExisting(g, tier)
			return pool, by
		}
	}
	return nil, nil
}

// firstForColocation returns the option launched first for the whole co-located set that the
// pool's limits still allow, or -1.
func (b *candidate) firstForColocation(w *way, c *colocation) int {
	if w.barred || c.options[b.at] == nil {
		return -1
	}
	for i := w.first; i >= 0; i = w.options.Next(i + 1) {
		if b.within.Has(i) && c.options[b.at].Has(i) && amount.Fits(b.free[b.Options[i].Kind], c.sum) {
			return i
		}
	}
	return -1
}

// fillExisting makes pools of this tier the ones that the group is launched from.
func (r *run) fillExisting(g *group, tier int) {
	r.demand.move(g, tier)
	r.rate(g)
}

// rate finds the highest yield that the group may have from its pools.
func (r *run) rate(g *group) {
	g.best = 0
	if g.left() == 0 {
		return
	}
	for _, b := range r.offeringPools {
		if r.atHome(b, g) {
			g.best = max(g.best, b.ask(g, len(r.groups)).best)
		}
	}
}

// cheapestPool returns, among the pools of the group's tier, the one that
// has the cheapest machine for one of its pods within its limits, and how.
func (r *run) cheapestPool(g *group) (*candidate, *way) {
	var pool *candidate
	var by *way
	least := priciest
	for _, b := range r.offeringPools {
		if !r.atHome(b, g) {
			continue
		}
		a := b.ask(g, len(r.groups))
		for i := range a.ways {
			if a.ways[i].barred {
				continue
			}
			if o := b.firstWithin(&a.ways[i], g); o >= 0 && least.beatenBy(b, o) {
				pool, by, least = b, &a.ways[i], bid{b.cost[o], b.more(o)}
			}
		}
	}
	return pool, by
}

// bid is the best machine so far, of one pool, while those of others are looked
// at: what it costs, and how many the pool may launch.
type bid struct {
	cost float64
	more int64
}

var priciest = bid{cost: math.Inf(1)}

// beatenBy reports whether a machine of the pool is cheaper. Of equal pools the
// one that may launch more is used, so that a scarce one is left for those who have
// no other.
func (x bid) beatenBy(b *candidate, option int) bool {
	return b.cost[option] < x.cost || b.cost[option] == x.cost && b.more(option) > x.more
}

// firstWithin returns the option launched first for one pod of the group that
// the pool's limits still allow, or -1.
func (b *candidate) firstWithin(w *way, g *group) int {
	for i := w.first; i >= 0; i = w.options.Next(i + 1) {
		if b.within.Has(i) && amount.Fits(b.free[b.Options[i].Kind], g.need) {
			return i
		}
	}
	return -1
}

// launchFrom orders machines from one pool: as many equal ones as there are pods
// for. Where minValues forbids it the way is barred and another one tried.
func (r *run) launchFrom(b *candidate, e errand) bool {
	p, ok := r.pick(b, e)
	if !ok {
		e.way.barred = true
		return true
	}
	load, why := r.keepMinValues(b, p, e)
	if !why.OK() {
		e.way.barred = true
		return true
	}
	load = r.keepFlexible(b, load)
	n := r.repeats(b, load)
	if slices.ContainsFunc(load.parts, func(x part) bool { return r.single(r.groups[x.group]) }) {
		n = 1
	}
	as := r.list(b, &load)
	for range r.mayStill(b, as.option, n) {
		r.launch(b, &load, &as)
	}
	return true
}

// single reports whether a machine with pods of the group cannot be repeated:
// those that need nobody because they are the first of their kind are so once,
// daemon pods to be beside may not come, and volumes for one pod serve one.
func (r *run) single(g *group) bool {
	return g.lone || len(g.seeks) < len(g.level.rules.Seeks()) || exclusive(g.podClass)
}

// repeats is how many machines with this load there are pods for. Limits are
// looked at again for each machine.
func (r *run) repeats(b *candidate, l load) int64 {
	if b.limits != nil {
		return 1
	}
	n := int64(math.MaxInt64)
	for _, part := range l.parts {
		g := r.groups[part.group]
		n = min(n, g.left()/part.n)
		if len(g.seeks) > 0 {
			n = min(n, r.untilUneven(g, part.n))
		}
		if more := part.n - r.metIn(g, l); len(g.gives) > 0 && more > 0 {
			n = min(n, max(1, r.spare(g)/more))
		}
	}
	return n
}

// untilUneven is on how many machines with n pods of the group those are that
// others have room for: where the rest would need more on each, half of them,
// and then their share is worked out again.
func (r *run) untilUneven(g *group, n int64) int64 {
	over := newGathering(r, g, r.demand.left).over(g)
	if even := over*(n+1) - g.left(); even > 0 && even < over {
		return max(1, even/2)
	}
	return math.MaxInt64
}

// metIn counts the pods of the load that seek pods of the group.
func (r *run) metIn(g *group, l load) int64 {
	n := int64(0)
	for _, part := range l.parts {
		for _, s := range r.groups[part.group].seeks {
			if slices.Contains(g.gives, s.Tally) {
				n += part.n
			}
		}
	}
	return n
}

// spare is how many pods of the group no others may need beside them.
func (r *run) spare(g *group) int64 {
	n, wants := g.left(), g.component.wants(r.demand.left)
	for _, t := range g.gives {
		n -= wants[t]
	}
	return n
}
