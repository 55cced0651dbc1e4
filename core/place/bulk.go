package place

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"slices"

	"github.com/daemok/daemok/core/amount"
)

// clearly is how many times what all machines cost at another site those at a
// dear one do. Where it is less, groups choose by one machine, and mostly the
// same site then: they share machines there, of which prices tell nothing.
const clearly = 1.2

// sitesMost is for how many pods sites are priced at most: for each different group
// at each site as many ways to fill machines are tried as there are machines to
// choose among.
const sitesMost = 200

// priceSites finds sites at which machines for all cost clearly more that go to
// one of them: as many pods of the group as may, and those that must be where
// these are. The machine that is cheapest for one of them does not tell. Groups
// that differ in nothing that counts are priced together, as the first of them.
// With sold set, machines count that limits forbid now.
func (r *run) priceSites(g *group, lv *level, sites []*site, sold bool) {
	if r.pods > sitesMost || len(sites) < 2 || lv.rules.Spreads() || len(r.board.Led(lv.rules)) == 0 {
		return
	}
	crowd := crowdText(r, g, lv)
	own, following := r.togetherOf(g, lv, crowd)
	if own.n < 2 && len(following) == 0 {
		return
	}
	for _, s := range sites {
		if s.market == nil {
			continue
		}
		at := pricing{crowd, s.market}
		cost, known := r.siteCosts[at]
		if !known {
			cost = math.Inf(1)
			if n := min(own.n, r.board.Room(lv.rules, s.spot)); n > 0 {
				all := append([]several{{own.need, n, own.host}}, following...)
				cost = costOfAll(s.market.goods(g, s.tier, sold, n), s.unseated(all))
			}
			r.siteCosts[at] = cost
		}
		s.all = cost
	}
	for _, s := range sites {
		dear := slices.ContainsFunc(sites, func(o *site) bool {
			return o.market != nil && o.tier == s.tier && float64(clearly*o.all) < s.all
		})
		r.out.DearSites = r.out.DearSites || dear
		s.dear = dear && r.options.DearSites
	}
}

// unseated returns those of the pods that have no room on what is there.
func (s *site) unseated(pods []several) []several {
	for _, seat := range s.seats {
		free := slices.Clone(seat.free)
		for i := range pods {
			p := &pods[i]
			n := min(p.n, p.host, count(free, p.need))
			take(free, p.need, n)
			p.n -= n
		}
	}
	return slices.DeleteFunc(pods, func(p several) bool { return p.n == 0 })
}

// pricing is for what machines in a market are priced.
type pricing struct {
	crowd  string
	market *market
}

// crowdText is equal for groups that ask for the same, want the same of nodes,
// and are followed by the same pods.
func crowdText(r *run, g *group, lv *level) string {
	if lv.crowd == "" {
		kinds, caps := r.board.OnHost(lv.rules)
		lv.crowd = fmt.Sprint(nodesText(lv), r.board.Led(lv.rules), kinds, caps)
	}
	text := []byte(lv.crowd)
	for _, v := range g.need {
		text = binary.LittleEndian.AppendUint64(text, uint64(v))
	}
	return string(text)
}

// crowdsNow counts the pods of each crowd that wait when it is first asked for
// in a round.
func (r *run) crowdsNow() map[string]int64 {
	if r.crowds == nil {
		r.crowds = map[string]int64{}
		for _, g := range r.waiting {
			if n := g.left(); n > 0 && !g.kin.plain(g.kin.required()) {
				for _, lv := range g.kin.levels {
					r.crowds[crowdText(r, g, lv)] += n
				}
			}
		}
	}
	return r.crowds
}

// several is some pods of a group.
type several struct {
	need []int64 // of one
	n    int64
	host int64 // how many of them a machine takes at most
}

func (r *run) several(g *group, lv *level, n int64) several {
	out := several{g.need, n, math.MaxInt64}
	if len(g.kin.ports) > 0 {
		out.host = 1
	}
	kinds, caps := r.board.OnHost(lv.rules)
	for _, c := range caps {
		if slices.Contains(kinds, c.Kind) {
			out.host = min(out.host, max(1, c.Most))
		}
	}
	return out
}

// togetherOf counts the pods of a crowd, and lists others that wait and must be
// where these are.
func (r *run) togetherOf(g *group, lv *level, crowd string) (own several, following []several) {
	own = r.several(g, lv, r.crowdsNow()[crowd])
	for _, f := range r.followersOf(lv) {
		for _, o := range f.kin.groups {
			if n := o.left(); n > 0 && len(f.keys) > 0 && !r.isOf(o, crowd) {
				following = joined(following, r.several(o, f.kin.required(), n))
			}
		}
	}
	return own, following
}

// isOf reports whether a group counts among a crowd.
func (r *run) isOf(g *group, crowd string) bool {
	return slices.ContainsFunc(g.kin.levels, func(lv *level) bool { return crowdText(r, g, lv) == crowd })
}

// joined adds pods to those that ask for the same.
func joined(list []several, more several) []several {
	for i, s := range list {
		if s.host == more.host && slices.Equal(s.need, more.need) {
			list[i].n += more.n
			return list
		}
	}
	return append(list, more)
}

// good is what can be bought in a market.
type good struct {
	cost float64
	free []int64
}

// goods lists what pools of a weight sell for n pods of the group, without what
// limits do not suffice for, and what has no more of anything than another that
// costs no more.
func (m *market) goods(g *group, tier int, sold bool, n int64) []good {
	var out []good
	for _, s := range m.stalls {
		if s.b.Weight != tier {
			continue
		}
		from := s.b.within
		if sold {
			from = s.b.available
		}
		for i := s.options.Next(0); i >= 0; i = s.options.Next(i + 1) {
			kind := s.b.Options[i].Kind
			if !from.Has(i) || !amount.Fits(s.b.mostFree(kind), g.need) {
				continue
			}
			if float64(s.b.more(i)) < float64(n)/float64(count(s.b.mostFree(kind), g.need)) {
				continue
			}
			it := good{costOf(s.b.Offer(s.b.Options[i])) + float64(s.b.PerMachine()), s.b.mostFree(kind)}
			if !slices.ContainsFunc(out, func(o good) bool { return o.cost <= it.cost && covers(o.free, it.free) }) {
				out = append(out, it)
			}
		}
	}
	return out
}

// mostFree is what a machine of the kind has for pods, surplus credits included.
func (b *buyer) mostFree(kind int) []int64 {
	if b.whole != nil {
		return b.whole[kind]
	}
	return b.free[kind]
}

// costOfAll returns about what machines for all pods cost: the least with each
// good in turn as the one that is bought as long as it will do. Pods that no
// good has room for have no say.
func costOfAll(from []good, pods []several) float64 {
	if len(pods) == 0 {
		return 0
	}
	best := math.Inf(1)
	for i := range from {
		best = min(best, costWith(from, i, slices.Clone(pods)))
	}
	return best
}

// costWith fills machines with the largest pods first, as many alike as there
// are pods for, each the cheapest that has room for what is on it.
func costWith(from []good, main int, left []several) float64 {
	slices.SortStableFunc(left, func(a, b several) int {
		return cmp.Compare(partOf(from[main].free, b.need), partOf(from[main].free, a.need))
	})
	cost := 0.0
	for i := 0; i < len(left); {
		at := cheapestFor(from, left[i].need)
		if left[i].n == 0 || at < 0 {
			i++
			continue
		}
		if amount.Fits(from[main].free, left[i].need) {
			at = main
		}
		sum, repeats := filled(from[at].free, left[i:])
		cost += float64(float64(repeats) * from[cheapestFor(from, sum)].cost)
	}
	return cost
}

// partOf returns which part of a machine a pod takes, of what it takes most.
func partOf(free, need []int64) float64 {
	most := 0.0
	for d, v := range need {
		if v > 0 {
			most = max(most, float64(v)/float64(max(1, free[d])))
		}
	}
	return most
}

// cheapestFor returns which good costs least of those with so much room, or -1.
func cheapestFor(from []good, sum []int64) int {
	best := -1
	for i, it := range from {
		if amount.Fits(it.free, sum) && (best < 0 || it.cost < from[best].cost) {
			best = i
		}
	}
	return best
}

// filled takes pods for a machine with so much room, and for as many machines
// with as many of each as there can be. It returns what is on one of them.
func filled(free []int64, left []several) (sum []int64, repeats int64) {
	free, sum, repeats = slices.Clone(free), make([]int64, len(free)), math.MaxInt64
	on := make([]int64, len(left))
	for i, p := range left {
		on[i] = min(p.n, p.host, count(free, p.need))
		take(free, p.need, on[i])
		take(sum, p.need, -on[i])
		if on[i] > 0 {
			repeats = min(repeats, p.n/on[i])
		}
	}
	for i := range left {
		left[i].n -= on[i] * repeats
	}
	return sum, repeats
}
