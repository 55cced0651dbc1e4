package place

import (
	"cmp"
	"math"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/supply"
)

// priceBook works out what instances for all pods of a group would cost, by site. It holds for one round.
type priceBook struct {
	scheduler  *scheduler
	avoid      bool                                // see Options.ExpensiveSites
	expensive  bool                                // avoiding them could make the answer another one
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
