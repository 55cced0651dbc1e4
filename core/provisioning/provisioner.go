package provisioning

import (
	"cmp"
	"math"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/supply"
)

// Provisioner chooses instances for the pods that find no room on nodes: its demand.
type Provisioner struct {
	Problem
	limited     bool            // some pool has limits
	asks        [][]*supply.Ask // by Candidate.At and Group.At
	outstanding outstanding
	Launches    []*plan.Launch
	Launched    []Launched // by launch
	MayEven     bool       // the option EvenHosts could make the answer another one

	filler     filler // kept for its memory
	tournament tournament
	Affinities affinities
	queues     queues
	Values     worths
	Lister     lister
	Reserved   reservations
}

// Problem is what a provisioner is given.
type Problem struct {
	*demand.State
	Twins     *Twins // nil unless it is a question, see core/removal
	MinValues MinValues
	Packer    Packer
	EvenHosts bool
}

// New returns a provisioner that has launched nothing.
func New(p Problem) *Provisioner {
	pr := &Provisioner{Problem: p}
	pr.Affinities = affinities{pr: pr, torn: map[*demand.Group]*demand.Colocation{}}
	pr.tournament = tournament{pr: pr, tried: map[[3]int64]bool{}, scratch: supply.Load{Sum: make([]int64, p.Dims.Len())}}
	pr.Values = worths{pr: pr, Valuation: p.State.Values}
	pr.queues.pr, pr.Lister.pr, pr.Reserved.pr = pr, pr, pr
	for i, b := range p.Candidates {
		b.At, b.Valuation = i, p.State.Values
		pr.limited = pr.limited || b.Remaining != nil
	}
	pr.ForgetAsks()
	return pr
}

// Next returns a provisioner for another problem with the same pools. It reuses the memory of this one.
func (pr *Provisioner) Next(p Problem) *Provisioner {
	out := New(p)
	out.tournament, out.filler, out.Affinities.Gatherer = pr.tournament, pr.filler.emptied(), pr.Affinities.Gatherer
	out.tournament.pr = out
	return out
}

// Begin prepares it for a round.
func (pr *Provisioner) Begin() {
	pr.Groups, pr.Learnt, pr.Affinities.meeting = nil, false, map[[2]*demand.OfferingSet]bool{}
	pr.Values.Host, pr.filler.guests.Host, pr.Affinities.Gatherer.Host = pr.Board.NewHost(), pr.Board.NewHost(), pr.Board.NewHost()
	pr.ForgetAsks()
}

// LaunchAll launches instances for the groups that are left, the hardest first,
// each from the heaviest pools that can have it.
func (pr *Provisioner) LaunchAll() {
	pr.orderPodGroups()
	pr.Values.recordPools()
	pr.evenOut()
	pr.SumUp()
	pr.Affinities.bind()
	pr.queues.findExclusiveSets()
	pr.chart()
	pr.Values.find()
	for _, g := range pr.Groups {
		pr.setTier(g, pr.nextHome(g, math.MaxInt))
	}
	pr.queues.sort()
	if pr.Packer != nil {
		pr.launchOneByOne(func(g *demand.Group) bool { return !pr.distinguishable(g) })
		batcher{pr}.launchTogether()
	}
	pr.launchOneByOne(func(*demand.Group) bool { return true })
}

// launchOneByOne launches one instance after another, for the groups that are meant.
func (pr *Provisioner) launchOneByOne(meant func(*demand.Group) bool) {
	for _, g := range pr.Groups {
		if !meant(g) {
			continue
		}
		for g.Left() > 0 && !pr.Effort.Spent(0) && pr.launchFor(g) {
			pr.Values.reprice()
		}
		pr.outstanding.giveUp(g)
		g.Stuck = g.Left() > 0
		g.Touch()
	}
}

// orderPodGroups sorts groups by priority, and puts those first whose pods must be beside others on their host, since
// these bring the others along; then come all in the order of placing.
func (pr *Provisioner) orderPodGroups() {
	before := func(a, b *demand.Group) int {
		return cmp.Or(
			cmp.Compare(b.Shape.Priority, a.Shape.Priority),
			cmp.Compare(demand.Rank(pr.Board.NearOnHost(a.Level.Rules)), demand.Rank(pr.Board.NearOnHost(b.Level.Rules))),
			cmp.Compare(a.Of.At, b.Of.At))
	}
	if !slices.IsSortedFunc(pr.Groups, before) {
		slices.SortStableFunc(pr.Groups, before)
	}
	for i, g := range pr.Groups {
		g.At = i
	}
}

// reprice finds worths again when half of the worth has a place: the pods that are left may need other resources, such
// as much memory and little cpu.
func (w *worths) reprice() {
	if w.again <= 0 || w.pr.toPlace() > w.again {
		return
	}
	w.find()
	for _, g := range w.pr.Groups {
		w.pr.rate(g)
	}
	w.pr.queues.sort()
}

// toPlace is the worth of all pods that are left.
func (pr *Provisioner) toPlace() float64 {
	return amount.Value(pr.Values.Worth, pr.outstanding.all.sum)
}

// nextHome returns the highest tier below the given one with a pool that has offerings for the group, and the given
// tier if there is none.
func (pr *Provisioner) nextHome(g *demand.Group, below int) int {
	if g.Left() == 0 {
		return below
	}
	home := below
	for _, b := range pr.Values.Pools {
		if b.Weight < below && (home == below || b.Weight > home) && len(pr.Ask(b, g).Ways) > 0 {
			home = b.Weight
		}
	}
	return home
}

// launchFor launches instances for some pods of the group, and for others that fit beside them. It goes on to lighter
// pools where heavier ones may launch no more.
func (pr *Provisioner) launchFor(g *demand.Group) bool {
	e := Errand{g: g}
	if g.Component != nil {
		e.colocation = pr.Affinities.colocationOf(g, pr.outstanding.left)
		if b, w := pr.poolForColocation(g, e.colocation); b != nil {
			e.whole, e.way = true, w
			return pr.launchFrom(b, e)
		}
		if e.colocation != nil {
			pr.Affinities.tear(g, e.colocation)
		}
		pr.setTier(g, pr.nextHome(g, math.MaxInt))
	}
	for {
		if b, w := pr.cheapestPool(g); b != nil {
			e.way = w
			return pr.launchFrom(b, e)
		}
		lighter := pr.nextHome(g, g.Home)
		if lighter == g.Home {
			return false
		}
		pr.setTier(g, lighter)
	}
}

// poolForColocation returns, of the heaviest pools that have an instance for the whole co-located set within their
// limits, the one with the cheapest, and the way in which the group may use it.
func (pr *Provisioner) poolForColocation(g *demand.Group, c *demand.Colocation) (pool *supply.Candidate, by *supply.Way) {
	if c == nil {
		return nil, nil
	}
	below := math.MaxInt
	for tier := pr.nextHome(g, below); tier < below; below, tier = tier, pr.nextHome(g, tier) {
		least := priciest
		for _, b := range pr.Values.Pools {
			a := pr.Ask(b, g)
			if b.Weight != tier {
				continue
			}
			for i := range a.Ways {
				if first := b.FirstHaving(&a.Ways[i], c.Options[b.At], c.Sum); first >= 0 && least.beatenBy(b, first) {
					pool, by, least = b, &a.Ways[i], bid{b.Cost[first], b.More(first)}
				}
			}
		}
		if pool != nil {
			pr.setTier(g, tier)
			return pool, by
		}
	}
	return nil, nil
}

// setTier makes this tier the one from whose pools instances for the group are launched.
func (pr *Provisioner) setTier(g *demand.Group, tier int) {
	pr.outstanding.move(g, tier)
	pr.rate(g)
}

// rate finds the highest yield that the group may have from its pools.
func (pr *Provisioner) rate(g *demand.Group) {
	g.Best = 0
	if g.Left() == 0 {
		return
	}
	for _, b := range pr.Values.Pools {
		if pr.tournament.atHome(b, g) {
			g.Best = max(g.Best, pr.Ask(b, g).Best)
		}
	}
}

// cheapestPool returns, among the pools of the group's tier, the one with the cheapest instance for one of its pods
// within the pool's limits, and the way in which the group may use it.
func (pr *Provisioner) cheapestPool(g *demand.Group) (*supply.Candidate, *supply.Way) {
	var pool *supply.Candidate
	var by *supply.Way
	least := priciest
	for _, b := range pr.Values.Pools {
		if !pr.tournament.atHome(b, g) {
			continue
		}
		a := pr.Ask(b, g)
		for i := range a.Ways {
			if a.Ways[i].Barred {
				continue
			}
			if o := b.FirstWithin(&a.Ways[i], g.Need); o >= 0 && least.beatenBy(b, o) {
				pool, by, least = b, &a.Ways[i], bid{b.Cost[o], b.More(o)}
			}
		}
	}
	return pool, by
}

// bid is the best instance so far while those of other pools are looked at: what it costs, and how many of it its pool
// may launch.
type bid struct {
	cost float64
	more int64
}

var priciest = bid{cost: math.Inf(1)}

// beatenBy reports whether an instance of the pool is cheaper. Of equal pools, the one that may launch more instances is
// used, so that a scarce one is left for pods that fit no other.
func (x bid) beatenBy(b *supply.Candidate, option int) bool {
	return b.Cost[option] < x.cost || b.Cost[option] == x.cost && b.More(option) > x.more
}

// launchFrom launches instances from one pool: as many equal ones as there are pods for. Where minValues forbids it, it
// bars the way, so that the next call tries another one.
func (pr *Provisioner) launchFrom(b *supply.Candidate, e Errand) bool {
	p, ok := pr.tournament.pick(b, e)
	if !ok {
		e.way.Barred = true
		return true
	}
	load, why := pr.Lister.KeepMinValues(b, p, e)
	if !why.OK() {
		e.way.Barred = true
		return true
	}
	load = pr.Lister.keepFlexible(b, load)
	n := pr.repeats(b, load)
	if slices.ContainsFunc(load.Parts, func(x supply.Part) bool { return pr.single(pr.Groups[x.Group]) }) {
		n = 1
	}
	as := pr.Lister.List(b, &load)
	n = pr.Reserved.MayStill(b, as.option, n)
	for range n {
		pr.Launch(b, &load, &as)
	}
	e.way.Barred = e.way.Barred || n <= 0
	return true
}

// single reports whether an instance with pods of the group cannot be repeated: pods that need no others because they
// are the first such pods are the first only once, daemon pods that they must be beside may not come to another
// instance, and a volume for one pod serves one pod.
func (pr *Provisioner) single(g *demand.Group) bool {
	return g.Lone || len(g.Seeks) < len(g.Level.Rules.Seeks()) || demand.Exclusive(g.PodClass)
}

// repeats is how many instances with this load there are pods for: one if the pool has limits, since these are checked
// again for each instance.
func (pr *Provisioner) repeats(b *supply.Candidate, l supply.Load) int64 {
	if b.Remaining != nil {
		return 1
	}
	n := int64(math.MaxInt64)
	for _, part := range l.Parts {
		g := pr.Groups[part.Group]
		n = min(n, g.Left()/part.N)
		if len(g.Seeks) > 0 {
			n = min(n, pr.untilUneven(g, part.N))
		}
		if more := part.N - pr.metIn(g, l); len(g.Gives) > 0 && more > 0 {
			n = min(n, max(1, pr.spare(g)/more))
		}
	}
	return n
}

// untilUneven is how many instances with n pods of the group may be launched before its share is computed again. If its
// pods cannot be divided evenly, some instances get n of them and the others one more: it is half of the former.
// Otherwise there is no bound.
func (pr *Provisioner) untilUneven(g *demand.Group, n int64) int64 {
	over := newGathering(&pr.Affinities, g, pr.outstanding.left).over(g)
	if even := over*(n+1) - g.Left(); even > 0 && even < over {
		return max(1, even/2)
	}
	return math.MaxInt64
}

// metIn counts the pods of the load that seek pods of the group.
func (pr *Provisioner) metIn(g *demand.Group, l supply.Load) int64 {
	n := int64(0)
	for _, part := range l.Parts {
		for _, s := range pr.Groups[part.Group].Seeks {
			if slices.Contains(g.Gives, s.Tally) {
				n += part.N
			}
		}
	}
	return n
}

// spare is how many pods of the group no others may need on their host.
func (pr *Provisioner) spare(g *demand.Group) int64 {
	n, wants := g.Left(), g.Component.Wants(pr.outstanding.left)
	for _, t := range g.Gives {
		n -= wants[t]
	}
	return n
}

// Ask returns how the group may use the pool.
func (pr *Provisioner) Ask(b *supply.Candidate, g *demand.Group) *supply.Ask {
	asks := pr.asks[b.At]
	if asks == nil {
		asks = make([]*supply.Ask, len(pr.Groups))
		pr.asks[b.At] = asks
	}
	if asks[g.At] == nil {
		asks[g.At] = b.NewAsk(g.Wants, g.Need, g.Level.Strict)
	}
	return asks[g.At]
}

// ForgetAsks forgets what Ask has answered; it must be called when there are other groups.
func (pr *Provisioner) ForgetAsks() { pr.asks = make([][]*supply.Ask, len(pr.Candidates)) }

// rateAll finds the highest yields of a pool again, for groups with pods left.
func (pr *Provisioner) rateAll(b *supply.Candidate) {
	for at, a := range pr.asks[b.At] {
		if a != nil && pr.Groups[at].Left() > 0 {
			b.Rate(a)
		}
	}
}

// chart finds for each pool the options that are in the same domains of all keys that matter to the groups.
func (pr *Provisioner) chart() {
	var keys []int
	for _, g := range pr.Groups {
		for _, k := range g.Level.Rules.Fixed() {
			if !slices.Contains(keys, k) {
				keys = append(keys, k)
			}
		}
	}
	slices.Sort(keys)
	for _, b := range pr.Candidates {
		b.Regions = b.RegionsBy(pr.Board, keys)
	}
}

// evenOut tells the board how many pods spreads over hosts have to divide among new instances.
func (pr *Provisioner) evenOut() {
	for _, g := range pr.Groups {
		pr.MayEven = pr.MayEven || pr.Board.MayEven(g.Level.Rules, g.Left())
		if pr.EvenHosts {
			pr.Board.Expect(g.Level.Rules, g.Left())
		}
	}
}
