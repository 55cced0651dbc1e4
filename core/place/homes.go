package place

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/topology"
)

// scheduler finds places for pods: on nodes, on instances that are being launched, and for the others the site that
// they are to be launched for.
type scheduler struct {
	run       *run
	groups    map[request]*group
	offered   map[int][]*group    // by tally: groups of which such pods are launched for, two at most
	followers map[int][]*podClass // by tally: those whose pods must be near such pods
}

// schedule decides for the pods of each group where they go: on a target, or on
// an instance that is to be launched, with as much of its place decided as rules
// about other pods need. Pods that must be near others come after those.
//
// In the first round pods are spread over all domains in which instances can be
// had. For those that found no place so, later rounds look at the nodes that
// there will be, as kube-scheduler does.
func (sc *scheduler) schedule() {
	for again := true; again && !sc.run.spent(0); {
		moved := false
		for _, g := range sc.run.waiting {
			if before := g.left(); before > 0 && g.shape.Unable == "" {
				sc.findHome(g)
				moved = moved || g.left() < before
			}
		}
		again = moved && sc.someFollow()
	}
}

// someFollow reports whether pods are left that others had to come before.
func (sc *scheduler) someFollow() bool {
	return slices.ContainsFunc(sc.run.waiting, func(g *group) bool { return g.podClass.follows && g.left() > 0 })
}

func (sc *scheduler) findHome(g *group) {
	for i, lv := range g.podClass.levels {
		if g.left() == 0 || sc.run.spent(0) || sc.run.replays.used(g.podClass) {
			return
		}
		last := i == len(g.podClass.levels)-1
		if g.podClass.plain(lv) {
			sc.fillTargets(g, lv)
			if !sc.run.offers() && last && g.left() > 0 {
				sc.run.giveUpOn(g)
				continue
			}
			m := sc.run.index.offeringSetsOf(lv)[0]
			if g.left() > 0 && !sc.run.spent(0) && !sc.run.provisioner.failed[request{g, lv, m}] && (last && sc.run.round == 1 || sc.run.index.launchable(g, lv)) {
				if sc.run.offers() {
					sc.askFor(g, lv, m, g.left())
				} else {
					sc.run.wouldLaunch(g)
				}
			}
			continue
		}
		sc.balance(g, lv, last)
	}
}

// fillTargets places pods of the group, for which other pods do not matter, on
// what is there or on its way.
func (sc *scheduler) fillTargets(g *group, lv *level) {
	for at := sc.run.roomy(0, g.need); at < len(sc.run.targets); at = sc.run.roomy(at+1, g.need) {
		s := sc.run.targets[at]
		if g.left() == 0 || sc.run.spent(1) {
			return
		}
		if n := min(g.left(), g.rides, amount.Count(s.free, g.need)); n > 0 && s.admitted(lv, len(sc.run.targets)) {
			sc.run.sit(s, g, lv, n)
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
	offeringSet *offeringSet
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
func (sc *scheduler) balance(g *group, lv *level, last bool) {
	sites := sc.sitesFor(g, lv, last)
	if last && len(sites) == 0 && !sc.run.offers() {
		sc.run.giveUpOn(g)
	}
	sc.countStrays(g, lv, sites)
	sc.run.book.priceSites(g, lv, sites, last && sc.run.round == 1)
	sc.run.choices.turnTo(g, sites)
	oneByOne := len(sites) > 1 && lv.rules.Spreads()
	defer func() { sc.run.choices.recordChoice(g, lv, sites) }()
	for g.left() > 0 && !sc.run.spent(int64(len(sites))) && !sc.run.replays.used(g.podClass) {
		s, room := sc.emptiest(lv, sites)
		if s == nil {
			return
		}
		n := min(g.left(), room)
		if oneByOne {
			n = 1
		}
		if exclusive(g.podClass) {
			n = 1
		}
		if g.rides == 0 {
			s.targets = nil
		}
		had := len(s.targets) > 0
		if target, most := s.nextTarget(sc.run, g, lv); target != nil {
			sc.run.sit(target, g, lv, min(n, most, g.rides))
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
		if !sc.run.offers() {
			sc.run.wouldLaunch(g)
			s.shut = true
			continue
		}
		sc.run.board.PutAhead(lv.rules, s.spot, n)
		sc.askFor(g, lv, s.offeringSet, n)
	}
}

// emptiest returns the site with room that counts the fewest pods; of equals
// one with a target, then of the heavier pool, then the cheaper one.
func (sc *scheduler) emptiest(lv *level, sites []*site) (*site, int64) {
	var best *site
	var least, room int64
	for _, s := range sites {
		if s.shut {
			continue
		}
		n := sc.run.board.Room(lv.rules, s.spot)
		if n <= 0 {
			continue
		}
		c := sc.run.board.Count(lv.rules, s.spot)
		if best == nil || c < least || c == least && s.before(best) {
			best, least, room = s, c, n
		}
	}
	return best, room
}

// countStrays notes for each site how many kinds of waiting pods that must be
// near pods of this group could not be launched for there.
func (sc *scheduler) countStrays(g *group, lv *level, sites []*site) {
	if len(sites) < 2 {
		return
	}
	for _, f := range sc.followersOf(lv) {
		at := slices.IndexFunc(f.podClass.groups, func(o *group) bool { return o != g && o.left() > 0 })
		for _, s := range sites {
			if at >= 0 && slices.ContainsFunc(f.keys, func(key int) bool { return !sc.run.book.offersIn(f.podClass.groups[at], key, s.spot[key]) }) {
				s.strays++
			}
		}
	}
}

// offersIn reports whether an instance for pods of the group can be had in the
// domain. Nothing is launched while homes are sought, so that it stays so in a
// round.
func (p *priceBook) offersIn(g *group, key int, domain int32) bool {
	if domain < 0 {
		return true
	}
	asked := sale{g, key, domain}
	yes, known := p.sales[asked]
	if !known {
		yes = slices.ContainsFunc(p.run.index.offeringSetsOf(g.podClass.required()), func(m *offeringSet) bool {
			if m.spot[key] >= 0 {
				_, _, ok := m.first(g, false)
				return ok && m.spot[key] == domain
			}
			return m.reaches(p.run.board, g, key, domain)
		})
		p.sales[asked] = yes
	}
	return yes
}

// sale asks whether something for a group is offered in a domain.
type sale struct {
	group  *group
	key    int
	domain int32
}

func (s *site) before(other *site) bool {
	return cmp.Or(
		cmp.Compare(s.turn, other.turn),
		cmp.Compare(s.strays, other.strays),
		cmp.Compare(rank(len(s.targets) > 0), rank(len(other.targets) > 0)),
		cmp.Compare(rank(!s.astray), rank(!other.astray)),
		cmp.Compare(other.tier, s.tier),
		cmp.Compare(rank(!s.expensive), rank(!other.expensive)),
		cmp.Compare(s.cost, other.cost)) < 0
}

// nextTarget returns the next target of the site that may take pods of the group,
// and how many. When targets were passed over and something moved since, they
// are tried again: what is allowed on a host grows as others fill.
func (s *site) nextTarget(r *run, g *group, lv *level) (*target, int64) {
	for {
		for s.cursor = s.roomy.next(s.cursor, len(s.targets), g.need); s.cursor < len(s.targets); s.cursor = s.roomy.next(s.cursor+1, len(s.targets), g.need) {
			r.steps++
			if s.roomy != nil && !s.targets[s.cursor].admitted(lv, len(r.targets)) {
				continue
			}
			if n := r.roomOn(s.targets[s.cursor], g, lv); n > 0 {
				return s.targets[s.cursor], n
			}
		}
		if !s.moved || !lv.rules.AboutHosts() {
			s.targets = nil
			return nil, 0
		}
		s.cursor, s.moved = 0, false
	}
}

// sitesFor lists where pods of the group may be at all, amounts included.
func (sc *scheduler) sitesFor(g *group, lv *level, last bool) []*site {
	fixed := lv.rules.Fixed()
	var out []*site
	at := map[string]*site{}
	var text []byte
	find := func(spot topology.Spot) *site {
		text = appendSpot(text[:0], fixed, spot)
		astray := sc.run.board.Astray(lv.rules, spot)
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
	rest := sc.run.targets
	if sc.run.question != nil {
		rest = sc.run.domainTargetsFor(g, lv, find)
	}
	for _, target := range rest {
		if n, _ := target.guests.within(sc.run.dims, target.free, g); n > 0 && target.admitted(lv, len(sc.run.targets)) {
			s := find(sc.spotOf(target))
			s.targets = append(s.targets, target)
		}
	}
	first := sc.run.round == 1
	for _, m := range sc.run.index.offeringSetsOf(lv) {
		if first {
			sc.run.board.Open(lv.rules, m.spot)
		}
		if cost, tier, ok := m.first(g, last && first); ok && !sc.run.provisioner.failed[request{g, lv, m}] {
			s := find(m.spot)
			s.offeringSet, s.cost, s.tier = m, cost, tier
		}
	}
	return out
}

// spotOf returns where the target is; nowhere while no rule looks at other pods.
func (sc *scheduler) spotOf(s *target) topology.Spot {
	if !sc.run.intake.counted {
		return nil
	}
	return sc.run.board.Spot(s.place)
}

// ahead returns the spot with its host left open, for any place there.
func (sc *scheduler) ahead(spot topology.Spot) topology.Spot {
	out := slices.Clone(spot[:min(len(spot), len(sc.run.board.Keys()))])
	if k := slices.Index(sc.run.board.Keys(), cluster.LabelHostname); k >= 0 && k < len(out) {
		out[k] = topology.Fresh
	}
	return out
}

// mayStandAlone reports whether pods of the level can be on a new instance as
// far as pods on the same host decide: those that must be beside others need
// some of these to be launched for too.
func (sc *scheduler) mayStandAlone(g *group, lv *level) bool {
	return !slices.ContainsFunc(lv.rules.Seeks(), func(s topology.Seek) bool {
		return !sc.run.affinities.exempt(s) && !sc.run.board.Comes(s.Tally) &&
			!slices.ContainsFunc(sc.offered[s.Tally], func(o *group) bool { return o != g })
	})
}

// offering notes that pods of the group are launched for, for those that must be on
// their host.
func (sc *scheduler) offering(podGroup *group) {
	for _, t := range podGroup.level.rules.Sought() {
		if list := sc.offered[t]; len(list) < 2 && !slices.Contains(list, podGroup.of) {
			sc.offered[t] = append(list, podGroup.of)
		}
	}
}

// askFor hands the next n pods of the group over to those that are to be
// launched for.
func (sc *scheduler) askFor(g *group, lv *level, m *offeringSet, n int64) {
	key := request{g, lv, m}
	podGroup := sc.groups[key]
	if podGroup == nil {
		podGroup = &group{shape: g.shape, podClass: g.podClass, need: g.need, of: g, level: lv, wants: m.wants, from: key}
		sc.groups[key] = podGroup
		sc.run.groups = append(sc.run.groups, podGroup)
		sc.offering(podGroup)
	}
	podGroup.pods = append(podGroup.pods, sc.run.replays.turns(g.next(n))...)
	sc.run.replays.hold(g.podClass)
}

// request is what distinguishes groups that are to be launched for.
type request struct {
	of          *group
	level       *level
	offeringSet *offeringSet
}

// pins returns the requirements that put an instance on the spot.
func (sc *scheduler) pins(fixed []int, spot topology.Spot) constraint.Requirements {
	var out constraint.Requirements
	for _, k := range fixed {
		set, _ := constraint.NewSet(constraint.DoesNotExist)
		if d := spot[k]; d >= 0 {
			set = constraint.Values(sc.run.board.Value(k, d))
		}
		out = out.And(constraint.Requirement{Key: sc.run.board.Keys()[k], Set: set})
	}
	return out
}
