package scheduling

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/topology"
)

// Scheduler finds places for pods on nodes and on instances that are being launched. For the others it decides the
// offering set that an instance is to be launched from.
type Scheduler struct {
	*Places
	groups    map[demand.Request]*demand.Group
	offered   map[int][]*demand.Group    // by tally: groups with such pods that instances are launched for, two at most
	followers map[int][]*demand.PodClass // by tally: pod classes whose pods must be near such pods
	Index     offeringIndex
	Choices   chooser
	sales     map[sale]bool // see offersIn
}

// Connect prepares it for the first round with these places.
func (sc *Scheduler) Connect(p *Places, variants []Variant) {
	sc.Places, sc.followers = p, map[int][]*demand.PodClass{}
	sc.Index.Places = p
	sc.Choices = chooser{Places: p, variants: variants}
}

// Begin prepares it for a round.
func (sc *Scheduler) Begin() {
	sc.groups, sc.offered, sc.sales = map[demand.Request]*demand.Group{}, map[int][]*demand.Group{}, map[sale]bool{}
	sc.Choices.begin()
}

// Schedule decides where the pods of each group go: to a target, or to an instance that is to be launched, in those
// domains that rules about other pods need to be decided. Pods that must be near others come after these.
//
// The first round spreads pods over all domains in which instances can be launched. For pods that found no place so,
// later rounds look at the nodes that there will be, as kube-scheduler does.
func (sc *Scheduler) Schedule() {
	for again := true; again && !sc.Effort.Spent(0); {
		moved := false
		for _, g := range sc.Waiting {
			if before := g.Left(); before > 0 && g.Shape.Unable == "" {
				sc.findHome(g)
				moved = moved || g.Left() < before
			}
		}
		again = moved && sc.someFollow()
	}
}

// someFollow reports whether pods are left that others had to come before.
func (sc *Scheduler) someFollow() bool {
	return slices.ContainsFunc(sc.Waiting, func(g *demand.Group) bool { return g.PodClass.Follows && g.Left() > 0 })
}

func (sc *Scheduler) findHome(g *demand.Group) {
	for i, lv := range g.PodClass.Levels {
		if g.Left() == 0 || sc.Effort.Spent(0) || sc.Used(g.PodClass) {
			return
		}
		last := i == len(g.PodClass.Levels)-1
		if g.PodClass.Plain(lv) {
			sc.fillTargets(g, lv)
			if !sc.Offers() && last && g.Left() > 0 {
				sc.giveUpOn(g)
				continue
			}
			m := sc.Index.OfferingSetsOf(lv)[0]
			if g.Left() > 0 && !sc.Effort.Spent(0) && !sc.Demand.Failed[demand.Request{Of: g, Level: lv, OfferingSet: m}] && (last && sc.Round == 1 || sc.Index.launchable(g, lv)) {
				if sc.Offers() {
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

// fillTargets places pods of the group, for which other pods do not matter, on targets.
func (sc *Scheduler) fillTargets(g *demand.Group, lv *demand.Level) {
	for at := sc.roomy(0, g.Need); at < len(sc.Targets); at = sc.roomy(at+1, g.Need) {
		s := sc.Targets[at]
		if g.Left() == 0 || sc.Effort.Spent(1) {
			return
		}
		if n := min(g.Left(), g.Rides, amount.Count(s.Free, g.Need)); n > 0 && s.Admitted(lv, len(sc.Targets)) {
			sc.Sit(s, g, lv, n)
		}
	}
}

// site is the targets and the offering set that are alike for rules about other pods, single hosts aside.
type site struct {
	spot        topology.Spot
	targets     []*Target
	roomy       *Gaps // of the targets, which include some without room; nil: all of them have room
	cursor      int
	moved       bool // something was placed since the cursor was at the start
	offeringSet *demand.OfferingSet
	turn        int     // see Variant
	strays      int     // pod classes whose pods must be near those of the group and cannot be there
	astray      bool    // see topology.Board.Astray
	cost        float64 // of the instance launched first there
	tier        int
	shut        bool // nothing more can be placed there
}

// balance places pods of the group one after another where rules about other pods allow it, in the emptiest domain
// first: on a target, or else on an instance that is to be launched.
func (sc *Scheduler) balance(g *demand.Group, lv *demand.Level, last bool) {
	sites := sc.sitesFor(g, lv, last)
	if last && len(sites) == 0 && !sc.Offers() {
		sc.giveUpOn(g)
	}
	sc.countStrays(g, lv, sites)
	sc.Choices.turnTo(g, sites)
	oneByOne := len(sites) > 1 && lv.Rules.Spreads()
	defer func() { sc.Choices.recordChoice(g, lv, sites) }()
	for g.Left() > 0 && !sc.Effort.Spent(int64(len(sites))) && !sc.Used(g.PodClass) {
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
		if target, most := s.nextTarget(sc.Places, g, lv); target != nil {
			sc.Sit(target, g, lv, min(n, most, g.Rides))
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
		if !sc.Offers() {
			sc.wouldLaunch(g)
			s.shut = true
			continue
		}
		sc.Board.PutAhead(lv.Rules, s.spot, n)
		sc.askFor(g, lv, s.offeringSet, n)
	}
}

// emptiest returns the site with room that counts the fewest pods, and its room; of equal ones that which before
// puts first.
func (sc *Scheduler) emptiest(lv *demand.Level, sites []*site) (*site, int64) {
	var best *site
	var least, room int64
	for _, s := range sites {
		if s.shut {
			continue
		}
		n := sc.Board.Room(lv.Rules, s.spot)
		if n <= 0 {
			continue
		}
		c := sc.Board.Count(lv.Rules, s.spot)
		if best == nil || c < least || c == least && s.before(best) {
			best, least, room = s, c, n
		}
	}
	return best, room
}

// countStrays counts for each site the pod classes with waiting pods that must be near pods of this group, and for
// which no instance could be launched there.
func (sc *Scheduler) countStrays(g *demand.Group, lv *demand.Level, sites []*site) {
	if len(sites) < 2 {
		return
	}
	for _, f := range sc.followersOf(lv) {
		at := slices.IndexFunc(f.PodClass.Groups, func(o *demand.Group) bool { return o != g && o.Left() > 0 })
		for _, s := range sites {
			if at >= 0 && slices.ContainsFunc(f.Keys, func(key int) bool { return !sc.offersIn(f.PodClass.Groups[at], key, s.spot[key]) }) {
				s.strays++
			}
		}
	}
}

// offersIn reports whether an instance for pods of the group can be launched in the domain. Nothing is launched
// while places are sought, so that the answer holds for the round.
func (sc *Scheduler) offersIn(g *demand.Group, key int, domain int32) bool {
	if domain < 0 {
		return true
	}
	asked := sale{g, key, domain}
	yes, known := sc.sales[asked]
	if !known {
		yes = slices.ContainsFunc(sc.Index.OfferingSetsOf(g.PodClass.Required()), func(m *demand.OfferingSet) bool {
			if m.Spot[key] >= 0 {
				_, _, ok := m.First(g, false)
				return ok && m.Spot[key] == domain
			}
			return m.Reaches(sc.Board, g, key, domain)
		})
		sc.sales[asked] = yes
	}
	return yes
}

// sale is what offersIn is asked: it is the key under which the answer is kept.
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
		cmp.Compare(s.cost, other.cost)) < 0
}

// nextTarget returns the next target of the site that may take pods of the group, and how many. If pods were placed
// since, the targets that it skipped are tried again: as other hosts fill, more pods are allowed on one.
func (s *site) nextTarget(p *Places, g *demand.Group, lv *demand.Level) (*Target, int64) {
	for {
		for s.cursor = s.roomy.Next(s.cursor, len(s.targets), g.Need); s.cursor < len(s.targets); s.cursor = s.roomy.Next(s.cursor+1, len(s.targets), g.Need) {
			p.Effort.Steps++
			if s.roomy != nil && !s.targets[s.cursor].Admitted(lv, len(p.Targets)) {
				continue
			}
			if n := p.RoomOn(s.targets[s.cursor], g, lv); n > 0 {
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

// sitesFor lists the sites with a target or an offering for pods of the group, amounts included.
func (sc *Scheduler) sitesFor(g *demand.Group, lv *demand.Level, last bool) []*site {
	fixed := lv.Rules.Fixed()
	var out []*site
	at := map[string]*site{}
	var text []byte
	find := func(spot topology.Spot) *site {
		text = appendSpot(text[:0], fixed, spot)
		astray := sc.Board.Astray(lv.Rules, spot)
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
	rest := sc.Targets
	if sc.Asked != nil {
		rest = sc.domainTargetsFor(g, lv, find)
	}
	for _, target := range rest {
		if n, _ := target.Guests.Within(sc.Dims, target.Free, g); n > 0 && target.Admitted(lv, len(sc.Targets)) {
			s := find(sc.spotOf(target))
			s.targets = append(s.targets, target)
		}
	}
	first := sc.Round == 1
	for _, m := range sc.Index.OfferingSetsOf(lv) {
		if first {
			sc.Board.Open(lv.Rules, m.Spot)
		}
		if cost, tier, ok := m.First(g, last && first); ok && !sc.Demand.Failed[demand.Request{Of: g, Level: lv, OfferingSet: m}] {
			s := find(m.Spot)
			s.offeringSet, s.cost, s.tier = m, cost, tier
		}
	}
	return out
}

// mayStandAlone reports whether pods of the level can be on a new instance, as far as pods on the same host decide.
// For pods that must be beside others, an instance must be launched for some of these too.
func (sc *Scheduler) mayStandAlone(g *demand.Group, lv *demand.Level) bool {
	return !slices.ContainsFunc(lv.Rules.Seeks(), func(s topology.Seek) bool {
		return !demand.Exempt(sc.Board, s) && !sc.Board.Comes(s.Tally) &&
			!slices.ContainsFunc(sc.offered[s.Tally], func(o *demand.Group) bool { return o != g })
	})
}

// recordOffered records that instances are launched for pods of the group, for pods that must be on their host.
func (sc *Scheduler) recordOffered(podGroup *demand.Group) {
	for _, t := range podGroup.Level.Rules.Sought() {
		if list := sc.offered[t]; len(list) < 2 && !slices.Contains(list, podGroup.Of) {
			sc.offered[t] = append(list, podGroup.Of)
		}
	}
}

// askFor adds the next n pods of the group to the demand: instances are to be launched for them.
func (sc *Scheduler) askFor(g *demand.Group, lv *demand.Level, m *demand.OfferingSet, n int64) {
	key := demand.Request{Of: g, Level: lv, OfferingSet: m}
	podGroup := sc.groups[key]
	if podGroup == nil {
		podGroup = &demand.Group{Shape: g.Shape, PodClass: g.PodClass, Need: g.Need, Of: g, Level: lv, Wants: m.Wants, From: key}
		sc.groups[key] = podGroup
		sc.Demand.Groups = append(sc.Demand.Groups, podGroup)
		sc.recordOffered(podGroup)
	}
	podGroup.Pods = append(podGroup.Pods, sc.Turns(g.Next(n))...)
	sc.Hold(g.PodClass)
}

// RecordFollowers finds out which pods must be near which others, and how many pod classes must come before each.
func (sc *Scheduler) RecordFollowers() {
	missing := map[*demand.PodClass]int{}
	led := map[int][]*demand.PodClass{}
	var ready []*demand.PodClass
	for _, g := range sc.Waiting {
		k := g.PodClass
		if k.Groups[0] != g {
			continue
		}
		for _, s := range k.Required().Rules.Nears() {
			sc.followers[s.Tally] = append(sc.followers[s.Tally], k)
		}
		for _, s := range k.Levels[0].Rules.Nears() {
			if !s.Own {
				led[s.Tally] = append(led[s.Tally], k)
				missing[k]++
			}
		}
		if missing[k] == 0 {
			ready = append(ready, k)
		}
	}
	open := map[int]bool{}
	for i := 0; i < len(ready) && len(led) > 0; i++ {
		for _, t := range sc.Board.Led(ready[i].Required().Rules) {
			if open[t] {
				continue
			}
			open[t] = true
			for _, k := range led[t] {
				if missing[k]--; missing[k] == 0 {
					k.Depth, ready = ready[i].Depth+1, append(ready, k)
				}
			}
		}
	}
}

// followersOf lists the pod classes whose pods must be where those of the level are,
// and the followers of these.
func (sc *Scheduler) followersOf(lv *demand.Level) []demand.Follower {
	if !lv.Led {
		lv.Followers, lv.Led = sc.newFollowers(lv), true
	}
	return lv.Followers
}

func (sc *Scheduler) newFollowers(lv *demand.Level) []demand.Follower {
	var out []demand.Follower
	seen := map[*demand.PodClass]bool{}
	visit := func(lv *demand.Level, keys []int) {
		for _, t := range sc.Board.Led(lv.Rules) {
			over := keys
			if key := sc.Board.KeyOf(t); sc.Board.Keys()[key] != cluster.LabelHostname {
				if keys != nil && !slices.Contains(keys, key) {
					continue
				}
				over = []int{key}
			}
			for _, k := range sc.followers[t] {
				if !seen[k] {
					seen[k], out = true, append(out, demand.Follower{PodClass: k, Keys: over})
				}
			}
		}
	}
	visit(lv, nil)
	for i := 0; i < len(out); i++ {
		visit(out[i].PodClass.Required(), out[i].Keys)
	}
	for i := range out {
		if out[i].Keys == nil {
			out[i].Keys = lv.Rules.Fixed()
		}
	}
	return out
}
