package scheduling

import (
	"cmp"
	"encoding/binary"
	"fmt"
	"math"
	"math/bits"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/supply"
)

// priceBook works out what instances for all pods of a group would cost, by site. It holds for one round.
type priceBook struct {
	scheduler  *Scheduler
	avoid      bool                                // see Options.ExpensiveSites
	Expensive  bool                                // avoiding them could make the answer another one
	sites      map[pricing]float64                 // see priceSites
	offerings  map[offeringSource][]pricedOffering // likewise, in a round
	sales      map[sale]bool                       // see offersIn
	looks      int                                 // taken for that
	crowdRules map[string]int                      // numbers of those of crowds, from 1 on
	crowds     map[crowd]int64                     // see crowdsNow
}

// begin makes it ready for a round.
func (p *priceBook) begin() {
	p.sites, p.offerings, p.crowds, p.sales = map[pricing]float64{}, map[offeringSource][]pricedOffering{}, nil, map[sale]bool{}
}

// mainsMost is how many instances are tried as the one that is launched as long as it
// will do: those that seem cheapest for all pods.
const mainsMost = 8

// pricedOffering is what can be launched in an offering set.
type pricedOffering struct {
	cost      float64
	free      []int64
	candidate *supply.Candidate
	option    int
}

// offeringSource is where offerings come from.
type offeringSource struct {
	offeringSet *demand.OfferingSet
	tier        int
	available   bool
}

// on lists what pools of a weight offer in an offering set, the cheapest first. With
// offered set that is what there is without limits.
func (p *priceBook) on(from offeringSource) []pricedOffering {
	if out, known := p.offerings[from]; known {
		return out
	}
	var out []pricedOffering
	for _, s := range from.offeringSet.ByPool {
		if s.Candidate.Weight != from.tier {
			continue
		}
		within := s.Candidate.WithinLimits
		if from.available {
			within = s.Candidate.AvailableNow
		}
		for i := s.Options.Next(0); i >= 0; i = s.Options.Next(i + 1) {
			if free := s.Candidate.MostFree(s.Candidate.Options[i].Kind); within.Has(i) && free != nil {
				out = append(out, pricedOffering{demand.CostOf(s.Candidate.Offering(s.Candidate.Options[i])) + float64(s.Candidate.PerInstance()), free, s.Candidate, i})
			}
		}
	}
	slices.SortStableFunc(out, func(a, b pricedOffering) int { return cmp.Compare(a.cost, b.cost) })
	p.looks += len(out)
	p.offerings[from] = out
	return out
}

// forPods lists what is offered at a site for n pods of the group, and for others
// beside them, without what limits do not suffice for: nothing if that leaves
// nothing for the group.
func (p *priceBook) forPods(g *demand.Group, s *site, available bool, n int64) []pricedOffering {
	all := p.on(offeringSource{s.offeringSet, s.tier, available})
	p.looks += len(all)
	for _, cramped := range []bool{false, true} {
		if out := pricedAmong(all, g, n, cramped); out != nil {
			return out
		}
	}
	return nil
}

// pricedAmong is pricedFor without instances, or with them, that leave less to pods than their
// pool's floor asks for.
func pricedAmong(all []pricedOffering, g *demand.Group, n int64, cramped bool) []pricedOffering {
	out, some := make([]pricedOffering, 0, len(all)), false
	for _, it := range all {
		if !cramped && it.candidate.IsCramped(it.option) {
			continue
		}
		if amount.Fits(it.free, g.Need) {
			if float64(it.candidate.More(it.option)) < float64(n)/float64(amount.Count(it.free, g.Need)) {
				continue
			}
			some = true
		}
		out = append(out, it)
	}
	if !some {
		return nil
	}
	return out
}

// wanted is pods that instances are launched for.
type wanted struct {
	several
	first int     // the cheapest good that has room for one
	alone float64 // what instances cost that have nothing but these, of those alone
	part  float64 // see partOf
}

// costOfAll returns about what instances for all pods cost: the least with each of
// the offerings that seem cheapest as the one that is launched as long as it will do.
// Pods that no good has room for have no say.
func (p *priceBook) costOfAll(from []pricedOffering, pods []several) float64 {
	if len(pods) == 0 {
		return 0
	}
	var all []wanted
	p.looks += len(from) * len(pods)
	for _, of := range pods {
		if at := cheapestFor(from, of.need, 0, len(from)); at < len(from) {
			instances := float64(of.n) / float64(min(of.host, amount.Count(from[at].free, of.need)))
			all = append(all, wanted{of, at, float64(instances * from[at].cost), 0})
		}
	}
	best := math.Inf(1)
	for _, main := range p.mains(from, all) {
		best = min(best, p.costWith(from, main, slices.Clone(all)))
	}
	return best
}

// mains lists the offerings that seem cheapest as the one that is launched as long as it
// will do, without those that have no more of anything than another that costs no
// more.
func (p *priceBook) mains(from []pricedOffering, pods []wanted) []int {
	p.looks += len(from) * len(pods)
	costs, order := make([]float64, len(from)), make([]int, len(from))
	for i := range from {
		costs[i], order[i] = seeming(&from[i], pods), i
	}
	slices.SortStableFunc(order, func(a, b int) int { return cmp.Compare(costs[a], costs[b]) })
	var out []int
	for _, i := range order {
		if len(out) == mainsMost {
			break
		}
		if !slices.ContainsFunc(out, func(o int) bool { return from[o].cost <= from[i].cost && amount.Covers(from[o].free, from[i].free) }) {
			out = append(out, i)
		}
	}
	return out
}

// seeming is what instances for all pods would cost if those of the good could be
// filled to the brim.
func seeming(it *pricedOffering, pods []wanted) float64 {
	sum, instances, others := make([]int64, len(it.free)), 1.0, 0.0
	for _, p := range pods {
		if !amount.Fits(it.free, p.need) {
			others += p.alone
			continue
		}
		amount.Take(sum, p.need, -p.n)
		instances = max(instances, float64(p.n)/float64(p.host))
	}
	return float64(max(instances, partOf(it.free, sum))*it.cost) + others
}

// costWith fills instances with the largest pods first, as many alike as there
// are pods for, each the cheapest that has room for what is on it.
func (p *priceBook) costWith(from []pricedOffering, main int, left []wanted) float64 {
	for i := range left {
		left[i].part = partOf(from[main].free, left[i].need)
	}
	slices.SortStableFunc(left, func(a, b wanted) int { return cmp.Compare(b.part, a.part) })
	cost := 0.0
	for len(left) > 0 {
		at := left[0].first
		if amount.Fits(from[main].free, left[0].need) {
			at = main
		}
		sum, repeats := filled(from[at].free, left)
		launched := cheapestFor(from, sum, left[0].first, at)
		p.looks += len(left) + launched - left[0].first
		cost += float64(float64(repeats) * from[launched].cost)
		left = slices.DeleteFunc(left, func(w wanted) bool { return w.n == 0 })
	}
	return cost
}

// partOf returns how much of an instance it takes, of what it takes most.
func partOf(free, need []int64) float64 {
	most := 0.0
	for d, v := range need {
		if v > 0 {
			most = max(most, float64(v)/float64(max(1, free[d])))
		}
	}
	return most
}

// cheapestFor returns which good costs least of those with so much room, of those
// from one on: the last if none of those before it has.
func cheapestFor(from []pricedOffering, sum []int64, first, last int) int {
	for i := first; i < last; i++ {
		if amount.Fits(from[i].free, sum) {
			return i
		}
	}
	return last
}

// filled takes pods for an instance with so much room, and for as many instances
// with as many of each as there can be. It returns what is on one of them.
func filled(free []int64, left []wanted) (sum []int64, repeats int64) {
	free, sum, repeats = slices.Clone(free), make([]int64, len(free)), math.MaxInt64
	on := make([]int64, len(left))
	for i, p := range left {
		on[i] = min(p.n, p.host, amount.Count(free, p.need))
		amount.Take(free, p.need, on[i])
		amount.Take(sum, p.need, -on[i])
		if on[i] > 0 {
			repeats = min(repeats, p.n/on[i])
		}
	}
	for i := range left {
		left[i].n -= on[i] * repeats
	}
	return sum, repeats
}

// clearly is how many times what all instances cost at another site those at a
// expensive one do. Where it is less, groups choose by one instance, and mostly the
// same site then: they share instances there, of which prices say nothing.
const clearly = 1.2

// looksMost is how many looks at pods or instances sites are priced with in one
// answer, a few hundredths of a second of one processor. Groups that come later
// choose by one instance.
const looksMost = 5_000_000

// sizesMost is how many different pods count by themselves when instances for all
// are priced. Where there are more, those of about the same size are alike.
const sizesMost = 64

// priceSites finds sites at which instances for all cost clearly more that go to
// one of them: as many pods of the group as may, and those that must be where
// these are. The instance that is cheapest for one of them does not say so. Groups
// that differ in nothing that counts are priced together, as the first of them.
// With offered set, instances count that limits forbid now.
func (p *priceBook) priceSites(g *demand.Group, lv *demand.Level, sites []*site, available bool) {
	if len(sites) < 2 || p.scheduler.Asked != nil || p.looks > looksMost || lv.Rules.Spreads() || len(p.scheduler.Board.Led(lv.Rules)) == 0 {
		return
	}
	p.looks += len(sites)
	open := slices.DeleteFunc(slices.Clone(sites), func(s *site) bool {
		return s.offeringSet == nil || p.scheduler.Board.Room(lv.Rules, s.spot) <= 0
	})
	if len(open) < 2 {
		return
	}
	crowd := p.crowdOf(g, lv)
	own, following := p.togetherOf(g, lv, crowd)
	if own.n < 2 && len(following) == 0 {
		return
	}
	following = p.coarse(following)
	for _, s := range open {
		at := pricing{crowd, s.offeringSet}
		cost, known := p.sites[at]
		if !known {
			n := min(own.n, p.scheduler.Board.Room(lv.Rules, s.spot))
			all := append([]several{{own.need, n, own.host}}, following...)
			p.looks += len(all) * len(s.targets)
			cost = p.costOfAll(p.forPods(g, s, available, n), s.unseated(all))
			p.sites[at] = cost
		}
		s.all = cost
	}
	p.recordExpensive(open)
}

// recordExpensive marks the sites at which instances for all cost clearly more than at
// another, if that would move anybody.
func (p *priceBook) recordExpensive(open []*site) {
	expensive := make([]bool, len(open))
	for i, s := range open {
		expensive[i] = slices.ContainsFunc(open, func(o *site) bool { return o.tier == s.tier && float64(clearly*o.all) < s.all })
	}
	for i, s := range open {
		p.Expensive = p.Expensive || expensive[i] && slices.ContainsFunc(open, func(o *site) bool {
			return !expensive[slices.Index(open, o)] && o.tier == s.tier && !o.before(s)
		})
	}
	for i, s := range open {
		s.expensive = expensive[i] && p.avoid
	}
}

// unseated returns those of the pods that have no room on what is there.
func (s *site) unseated(pods []several) []several {
	for _, target := range s.targets {
		free := slices.Clone(target.Free)
		for i := range pods {
			p := &pods[i]
			n := min(p.n, p.host, amount.Count(free, p.need))
			amount.Take(free, p.need, n)
			p.n -= n
		}
	}
	return slices.DeleteFunc(pods, func(p several) bool { return p.n == 0 })
}

// pricing is for what instances in an offering set are priced.
type pricing struct {
	crowd       crowd
	offeringSet *demand.OfferingSet
}

// crowd is equal for groups that ask for the same, want the same of nodes, and are
// followed by the same pods.
type crowd struct {
	rules int // of the level, see run.book.crowdRules
	need  string
}

func (p *priceBook) crowdOf(g *demand.Group, lv *demand.Level) crowd {
	if lv.Crowd == 0 {
		kinds, caps := p.scheduler.Board.OnHost(lv.Rules)
		text := fmt.Sprint(nodesText(lv), p.scheduler.Board.Led(lv.Rules), kinds, caps)
		if p.crowdRules[text] == 0 {
			p.crowdRules[text] = len(p.crowdRules) + 1
		}
		lv.Crowd = p.crowdRules[text]
	}
	if g.NeedText == "" {
		g.NeedText = string(supply.AppendAmounts(nil, g.Need))
	}
	return crowd{lv.Crowd, g.NeedText}
}

// crowdsNow counts the pods of each crowd that wait when it is first asked for
// in a round.
func (p *priceBook) crowdsNow() map[crowd]int64 {
	if p.crowds == nil {
		p.crowds = map[crowd]int64{}
		for _, g := range p.scheduler.Waiting {
			if n := g.Left(); n > 0 && !g.PodClass.Plain(g.PodClass.Required()) {
				for _, lv := range g.PodClass.Levels {
					if len(p.scheduler.Board.Led(lv.Rules)) > 0 {
						p.crowds[p.crowdOf(g, lv)] += n
					}
				}
			}
		}
	}
	return p.crowds
}

// several is some pods of a group.
type several struct {
	need []int64 // of one
	n    int64
	host int64 // how many of them an instance takes at most
}

func (p *priceBook) several(g *demand.Group, lv *demand.Level, n int64) several {
	out := several{g.Need, n, math.MaxInt64}
	if len(g.PodClass.Ports) > 0 {
		out.host = 1
	}
	kinds, caps := p.scheduler.Board.OnHost(lv.Rules)
	for _, c := range caps {
		if slices.Contains(kinds, c.Kind) {
			out.host = min(out.host, max(1, c.Most))
		}
	}
	return out
}

// togetherOf counts the pods of a crowd, and lists others that wait and must be
// where these are.
func (p *priceBook) togetherOf(g *demand.Group, lv *demand.Level, crowd crowd) (own several, following []several) {
	own = p.several(g, lv, p.crowdsNow()[crowd])
	for _, f := range p.scheduler.followersOf(lv) {
		p.looks += len(f.PodClass.Groups)
		for _, o := range f.PodClass.Groups {
			if n := o.Left(); n > 0 && len(f.Keys) > 0 && !p.isOf(o, crowd) {
				following = append(following, p.several(o, f.PodClass.Required(), n))
			}
		}
	}
	return own, following
}

// isOf reports whether a group counts among a crowd.
func (p *priceBook) isOf(g *demand.Group, crowd crowd) bool {
	return slices.ContainsFunc(g.PodClass.Levels, func(lv *demand.Level) bool {
		return len(p.scheduler.Board.Led(lv.Rules)) > 0 && p.crowdOf(g, lv) == crowd
	})
}

// coarse makes one of pods that ask for the same or, where there are very many
// different ones, for about the same: then each asks for what they do on average.
func (p *priceBook) coarse(pods []several) []several {
	p.looks += joining * len(pods)
	exactly := joined(pods, func(v int64) int64 { return v })
	if len(exactly) <= sizesMost {
		return exactly
	}
	return joined(exactly, func(v int64) int64 { return int64(bits.Len64(uint64(max(0, v)))) })
}

// joining is about how many looks it takes to find which others are like a pod.
const joining = 20

// joined makes one of pods with the same measure of all that they ask for.
func joined(pods []several, measure func(int64) int64) []several {
	var out []several
	var text []byte
	at := map[string]int{}
	for _, p := range pods {
		text = binary.LittleEndian.AppendUint64(text[:0], uint64(p.host))
		for _, v := range p.need {
			text = binary.LittleEndian.AppendUint64(text, uint64(measure(v)))
		}
		i, known := at[string(text)]
		if !known {
			i = len(out)
			at[string(text)] = i
			out = append(out, several{need: make([]int64, len(p.need)), host: p.host})
		}
		out[i].n += p.n
		amount.Take(out[i].need, p.need, -p.n) // of all, until they are counted
	}
	for _, p := range out {
		for d, v := range p.need {
			p.need[d] = (v + p.n - 1) / p.n
		}
	}
	return out
}
