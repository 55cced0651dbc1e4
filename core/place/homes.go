package place

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/topology"
)

// scheduler finds places for pods: on nodes, on instances that are being launched, and for the others the site that
// they are to be launched for.
type scheduler struct {
	*places
	groups    map[demand.Request]*demand.Group
	offered   map[int][]*demand.Group    // by tally: groups of which such pods are launched for, two at most
	followers map[int][]*demand.PodClass // by tally: those whose pods must be near such pods
	index     offeringIndex
	book      priceBook
	choices   chooser
}

// connect makes it ready for the first round with these places.
func (sc *scheduler) connect(p *places, o Options) {
	sc.places, sc.followers = p, map[int][]*demand.PodClass{}
	sc.index.places = p
	sc.book = priceBook{scheduler: sc, crowdRules: map[string]int{}, avoid: o.ExpensiveSites}
	sc.choices = chooser{places: p, variants: o.Variants}
}

// begin makes it ready for a round.
func (sc *scheduler) begin() {
	sc.groups, sc.offered = map[demand.Request]*demand.Group{}, map[int][]*demand.Group{}
	sc.book.begin()
	sc.choices.begin()
}

// schedule decides for the pods of each group where they go: on a target, or on
// an instance that is to be launched, with as much of its place decided as rules
// about other pods need. Pods that must be near others come after those.
//
// In the first round pods are spread over all domains in which instances can be
// had. For those that found no place so, later rounds look at the nodes that
// there will be, as kube-scheduler does.
func (sc *scheduler) schedule() {
	for again := true; again && !sc.effort.Spent(0); {
		moved := false
		for _, g := range sc.waiting {
			if before := g.Left(); before > 0 && g.Shape.Unable == "" {
				sc.findHome(g)
				moved = moved || g.Left() < before
			}
		}
		again = moved && sc.someFollow()
	}
}

// someFollow reports whether pods are left that others had to come before.
func (sc *scheduler) someFollow() bool {
	return slices.ContainsFunc(sc.waiting, func(g *demand.Group) bool { return g.PodClass.Follows && g.Left() > 0 })
}

func (sc *scheduler) findHome(g *demand.Group) {
	for i, lv := range g.PodClass.Levels {
		if g.Left() == 0 || sc.effort.Spent(0) || sc.used(g.PodClass) {
			return
		}
		last := i == len(g.PodClass.Levels)-1
		if g.PodClass.Plain(lv) {
			sc.fillTargets(g, lv)
			if !sc.offers() && last && g.Left() > 0 {
				sc.giveUpOn(g)
				continue
			}
			m := sc.index.offeringSetsOf(lv)[0]
			if g.Left() > 0 && !sc.effort.Spent(0) && !sc.demand.Failed[demand.Request{Of: g, Level: lv, OfferingSet: m}] && (last && sc.round == 1 || sc.index.launchable(g, lv)) {
				if sc.offers() {
					sc.askFor(g, lv, m, g.Left())
				} else {
					sc.wouldLaunch(g)
				}
			}
			continue
		}
		sc.balance(g, lv, last)
	}
}

// fillTargets places pods of the group, for which other pods do not matter, on
// what is there or on its way.
func (sc *scheduler) fillTargets(g *demand.Group, lv *demand.Level) {
	for at := sc.roomy(0, g.Need); at < len(sc.targets); at = sc.roomy(at+1, g.Need) {
		s := sc.targets[at]
		if g.Left() == 0 || sc.effort.Spent(1) {
			return
		}
		if n := min(g.Left(), g.Rides, amount.Count(s.free, g.Need)); n > 0 && s.admitted(lv, len(sc.targets)) {
			sc.sit(s, g, lv, n)
		}
	}
}

// site is all places that are alike for the rules about other pods, single
// hosts aside.
type site struct {
	spot        topology.Spot
	targets     []*target
	roomy       *gaps // over the targets: others than those with room are among them; nil: they are not
	cursor      int
	moved       bool // something was placed since the cursor was at the start
	offeringSet *demand.OfferingSet
	turn        int     // see Variant
	strays      int     // kinds of pods that must be near those of the group and cannot be there
	astray      bool    // see topology.Board.Astray
	cost        float64 // of the instance launched first there
	all         float64 // of instances for all that would go there
	expensive   bool    // see priceSites
	tier        int
	shut        bool // nothing more can be had
}

// balance places pods of the group one after another where rules about other
// pods allow it, in the emptiest domain first: on a target, else on an instance
// that is to be launched.
func (sc *scheduler) balance(g *demand.Group, lv *demand.Level, last bool) {
	sites := sc.sitesFor(g, lv, last)
	if last && len(sites) == 0 && !sc.offers() {
		sc.giveUpOn(g)
	}
	sc.countStrays(g, lv, sites)
	sc.book.priceSites(g, lv, sites, last && sc.round == 1)
	sc.choices.turnTo(g, sites)
	oneByOne := len(sites) > 1 && lv.Rules.Spreads()
	defer func() { sc.choices.recordChoice(g, lv, sites) }()
	for g.Left() > 0 && !sc.effort.Spent(int64(len(sites))) && !sc.used(g.PodClass) {
		s, room := sc.emptiest(lv, sites)
		if s == nil {
			return
		}
		n := min(g.Left(), room)
		if oneByOne {
			n = 1
		}
		if demand.Exclusive(g.PodClass) {
			n = 1
		}
		if g.Rides == 0 {
			s.targets = nil
		}
		had := len(s.targets) > 0
		if target, most := s.nextTarget(sc.places, g, lv); target != nil {
			sc.sit(target, g, lv, min(n, most, g.Rides))
			s.moved = true
			continue
		}
		if had {
			continue // another domain as empty may have a target
		}
		if s.offeringSet == nil || !sc.mayStandAlone(g, lv) {
			s.shut = true
			continue
		}
		if !sc.offers() {
			sc.wouldLaunch(g)
			s.shut = true
			continue
		}
		sc.board.PutAhead(lv.Rules, s.spot, n)
		sc.askFor(g, lv, s.offeringSet, n)
	}
}

// emptiest returns the site with room that counts the fewest pods; of equals
// one with a target, then of the heavier pool, then the cheaper one.
func (sc *scheduler) emptiest(lv *demand.Level, sites []*site) (*site, int64) {
	var best *site
	var least, room int64
	for _, s := range sites {
		if s.shut {
			continue
		}
		n := sc.board.Room(lv.Rules, s.spot)
		if n <= 0 {
			continue
		}
		c := sc.board.Count(lv.Rules, s.spot)
		if best == nil || c < least || c == least && s.before(best) {
			best, least, room = s, c, n
		}
	}
	return best, room
}

// countStrays notes for each site how many kinds of waiting pods that must be
// near pods of this group could not be launched for there.
func (sc *scheduler) countStrays(g *demand.Group, lv *demand.Level, sites []*site) {
	if len(sites) < 2 {
		return
	}
	for _, f := range sc.followersOf(lv) {
		at := slices.IndexFunc(f.PodClass.Groups, func(o *demand.Group) bool { return o != g && o.Left() > 0 })
		for _, s := range sites {
			if at >= 0 && slices.ContainsFunc(f.Keys, func(key int) bool { return !sc.book.offersIn(f.PodClass.Groups[at], key, s.spot[key]) }) {
				s.strays++
			}
		}
	}
}

// offersIn reports whether an instance for pods of the group can be had in the
// domain. Nothing is launched while homes are sought, so that it stays so in a
// round.
func (p *priceBook) offersIn(g *demand.Group, key int, domain int32) bool {
	if domain < 0 {
		return true
	}
	asked := sale{g, key, domain}
	yes, known := p.sales[asked]
	if !known {
		yes = slices.ContainsFunc(p.scheduler.index.offeringSetsOf(g.PodClass.Required()), func(m *demand.OfferingSet) bool {
			if m.Spot[key] >= 0 {
				_, _, ok := m.First(g, false)
				return ok && m.Spot[key] == domain
			}
			return m.Reaches(p.scheduler.board, g, key, domain)
		})
		p.sales[asked] = yes
	}
	return yes
}

// sale asks whether something for a group is offered in a domain.
type sale struct {
	group  *demand.Group
	key    int
	domain int32
}

func (s *site) before(other *site) bool {
	return cmp.Or(
		cmp.Compare(s.turn, other.turn),
		cmp.Compare(s.strays, other.strays),
		cmp.Compare(demand.Rank(len(s.targets) > 0), demand.Rank(len(other.targets) > 0)),
		cmp.Compare(demand.Rank(!s.astray), demand.Rank(!other.astray)),
		cmp.Compare(other.tier, s.tier),
		cmp.Compare(demand.Rank(!s.expensive), demand.Rank(!other.expensive)),
		cmp.Compare(s.cost, other.cost)) < 0
}

// nextTarget returns the next target of the site that may take pods of the group,
// and how many. When targets were passed over and something moved since, they
// are tried again: what is allowed on a host grows as others fill.
func (s *site) nextTarget(p *places, g *demand.Group, lv *demand.Level) (*target, int64) {
	for {
		for s.cursor = s.roomy.next(s.cursor, len(s.targets), g.Need); s.cursor < len(s.targets); s.cursor = s.roomy.next(s.cursor+1, len(s.targets), g.Need) {
			p.effort.Steps++
			if s.roomy != nil && !s.targets[s.cursor].admitted(lv, len(p.targets)) {
				continue
			}
			if n := p.roomOn(s.targets[s.cursor], g, lv); n > 0 {
				return s.targets[s.cursor], n
			}
		}
		if !s.moved || !lv.Rules.AboutHosts() {
			s.targets = nil
			return nil, 0
		}
		s.cursor, s.moved = 0, false
	}
}

// sitesFor lists where pods of the group may be at all, amounts included.
func (sc *scheduler) sitesFor(g *demand.Group, lv *demand.Level, last bool) []*site {
	fixed := lv.Rules.Fixed()
	var out []*site
	at := map[string]*site{}
	var text []byte
	find := func(spot topology.Spot) *site {
		text = appendSpot(text[:0], fixed, spot)
		astray := sc.board.Astray(lv.Rules, spot)
		if astray {
			text = appendSpot(text, []int{len(spot) - 1}, spot)
		}
		s := at[string(text)]
		if s == nil {
			s = &site{spot: spot, astray: astray}
			if !astray {
				s.spot = sc.ahead(spot)
			}
			at[string(text)] = s
			out = append(out, s)
		}
		return s
	}
	rest := sc.targets
	if sc.asked != nil {
		rest = sc.domainTargetsFor(g, lv, find)
	}
	for _, target := range rest {
		if n, _ := target.guests.Within(sc.dims, target.free, g); n > 0 && target.admitted(lv, len(sc.targets)) {
			s := find(sc.spotOf(target))
			s.targets = append(s.targets, target)
		}
	}
	first := sc.round == 1
	for _, m := range sc.index.offeringSetsOf(lv) {
		if first {
			sc.board.Open(lv.Rules, m.Spot)
		}
		if cost, tier, ok := m.First(g, last && first); ok && !sc.demand.Failed[demand.Request{Of: g, Level: lv, OfferingSet: m}] {
			s := find(m.Spot)
			s.offeringSet, s.cost, s.tier = m, cost, tier
		}
	}
	return out
}

// mayStandAlone reports whether pods of the level can be on a new instance as
// far as pods on the same host decide: those that must be beside others need
// some of these to be launched for too.
func (sc *scheduler) mayStandAlone(g *demand.Group, lv *demand.Level) bool {
	return !slices.ContainsFunc(lv.Rules.Seeks(), func(s topology.Seek) bool {
		return !demand.Exempt(sc.board, s) && !sc.board.Comes(s.Tally) &&
			!slices.ContainsFunc(sc.offered[s.Tally], func(o *demand.Group) bool { return o != g })
	})
}

// offering notes that pods of the group are launched for, for those that must be on
// their host.
func (sc *scheduler) offering(podGroup *demand.Group) {
	for _, t := range podGroup.Level.Rules.Sought() {
		if list := sc.offered[t]; len(list) < 2 && !slices.Contains(list, podGroup.Of) {
			sc.offered[t] = append(list, podGroup.Of)
		}
	}
}

// askFor hands the next n pods of the group over to those that are to be
// launched for.
func (sc *scheduler) askFor(g *demand.Group, lv *demand.Level, m *demand.OfferingSet, n int64) {
	key := demand.Request{Of: g, Level: lv, OfferingSet: m}
	podGroup := sc.groups[key]
	if podGroup == nil {
		podGroup = &demand.Group{Shape: g.Shape, PodClass: g.PodClass, Need: g.Need, Of: g, Level: lv, Wants: m.Wants, From: key}
		sc.groups[key] = podGroup
		sc.demand.Groups = append(sc.demand.Groups, podGroup)
		sc.offering(podGroup)
	}
	podGroup.Pods = append(podGroup.Pods, sc.turns(g.Next(n))...)
	sc.hold(g.PodClass)
}
