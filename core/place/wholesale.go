package place

import (
	"math"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bound"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/scheduling"
)

// wholesale is what all pools offer. It says quickly what instances for some pods cost at least.
type wholesale struct {
	columns []bound.Column // without those that have no more of anything than another one that costs no more
	each    []float64      // by resource: what one unit costs at least if nothing else counts
}

// wholesale returns it; it is computed once.
func (d *evaluator) wholesale() *wholesale {
	if d.bulk != nil {
		return d.bulk
	}
	out := &wholesale{each: make([]float64, d.run.Dims.Len())}
	for i := range out.each {
		out.each[i] = math.Inf(1)
	}
	for at, b := range d.run.Candidates {
		if b.Twin() {
			continue
		}
		before, least := &d.pools[at], make([]float64, len(b.Kinds))
		for o := before.AvailableNow.Next(0); o >= 0; o = before.AvailableNow.Next(o + 1) {
			offering := b.Offering(b.Options[o])
			free := before.Most(b.Options[o].Kind)
			price := demand.CostOf(offering) + float64(b.PerInstance())
			if known := least[b.Options[o].Kind]; !offering.Priced || free == nil || known > 0 && price >= known {
				continue
			}
			least[b.Options[o].Kind] = price
			c := bound.Column{Price: price, Has: amount.Positive(free)}
			for i, has := range c.Has {
				if has > 0 {
					out.each[i] = min(out.each[i], c.Price/has)
				}
			}
			if !slices.ContainsFunc(out.columns, func(x bound.Column) bool { return x.Price <= c.Price && amount.Covers(x.Has, c.Has) }) {
				out.columns = slices.DeleteFunc(out.columns, func(x bound.Column) bool { return c.Price <= x.Price && amount.Covers(c.Has, x.Has) })
				out.columns = append(out.columns, c)
			}
		}
	}
	d.bulk = out
	return out
}

// least is what instances for pods that need so much together cost at least.
func (w *wholesale) least(sum []int64) float64 {
	out := 0.0
	for i, v := range sum {
		if v > 0 {
			out = max(out, float64(w.each[i]*float64(v)))
		}
	}
	return out
}

// exceeds reports whether instances for pods that need so much together certainly cost more than most.
func (w *wholesale) exceeds(sum []int64, most float64) bool {
	return w.least(sum) > most || bound.Cover(amount.Positive(sum), w.columns).Cost > most
}

// endEarly ends the search for an answer to a question if instances for the pods that found no target certainly cost
// more than they may.
func (d *evaluator) endEarly(q Question) {
	r, most := d.run, float64(q.Below)
	if q.Below <= 0 {
		return
	}
	var sum []int64
	var last *demand.Group
	for _, g := range r.Demand.Groups {
		if !d.mustLaunch(g) {
			continue
		}
		last = g.Of
		if d.cheapest(g.From.OfferingSet, g.Need) > most {
			r.Effort.Known, r.Asked.Lost = true, last
			return
		}
		if sum == nil {
			sum = make([]int64, r.Dims.Len())
		}
		amount.Take(sum, g.Need, -g.Left())
	}
	if last != nil && d.wholesale().exceeds(sum, most) {
		r.Effort.Known, r.Asked.Lost = true, last
	}
}

// mustLaunch reports whether pods of the group certainly have no place on a target. Pods that depend on other pods may
// find one later, when it is known where the others are.
func (d *evaluator) mustLaunch(g *demand.Group) bool {
	if g.PodClass.Plain(g.Level) {
		return true
	}
	for _, at := range d.reachableFor(g.Shape).targets {
		if at == nil {
			return true
		}
		if !at.Closed {
			return false
		}
	}
	return false
}

// cheapest is what the cheapest instance of the offering set costs that has room for one such pod; infinity if there is
// none.
func (d *evaluator) cheapest(m *demand.OfferingSet, need []int64) float64 {
	least := math.Inf(1)
	if m.Various == nil {
		m.Various = various(m.ByPool)
	}
	for _, s := range m.Various {
		before := &d.pools[s.Candidate.At]
		for o := s.Options.Next(0); o >= 0; o = s.Options.Next(o + 1) {
			offering := s.Candidate.Offering(s.Candidate.Options[o])
			if !before.AvailableNow.Has(o) || !offering.Priced || !amount.Fits(before.Most(s.Candidate.Options[o].Kind), need) {
				continue
			}
			cost := demand.CostOf(offering) + float64(s.Candidate.PerInstance())
			least = min(least, cost)
			break // options are in the order of their prices
		}
	}
	return least
}

// various leaves out pools with the same options in the offering set as an earlier one, at the same cost.
func various(byPool []demand.PoolOfferings) []demand.PoolOfferings {
	var out []demand.PoolOfferings
	for _, s := range byPool {
		if !slices.ContainsFunc(out, func(o demand.PoolOfferings) bool {
			return o.Candidate == s.Candidate.Like && slices.Equal(o.Options, s.Options)
		}) {
			out = append(out, s)
		}
	}
	return out
}

// reachable says where one pod of a shape may go, other pods aside.
type reachable struct {
	targets [2]*scheduling.Target // the first two that have room; nil: there are fewer
	cost    float64               // of the cheapest instance for it
}

// hopeless reports whether instances for pods that have room on no other node certainly cost that much.
func (d *evaluator) hopeless(node int, below quantity.MicroUSDPerHour) bool {
	n := &d.ground.snapshot.Nodes[node]
	var sum []int64
	least := 0.0
	for j := range n.Pods {
		if !n.Pods[j].Moves() {
			continue
		}
		h := d.reachableFor(n.Pods[j].Shape)
		if h.targets[0] != nil && h.targets[0] != d.targets[node] || h.targets[1] != nil {
			continue
		}
		least = max(least, h.cost)
		if sum == nil {
			sum = make([]int64, d.run.Dims.Len())
		}
		amount.Take(sum, d.podClasses[n.Pods[j].Shape].need, -1)
	}
	return sum != nil && (least >= float64(below) || d.wholesale().exceeds(sum, float64(below)))
}

func (d *evaluator) reachableFor(s *cluster.Shape) reachable {
	if h, known := d.reachables[s]; known {
		return h
	}
	k, r := d.podClasses[s], d.run
	var h reachable
	lv := k.Required()
	found := 0
	for at := d.known.Gaps.Next(0, r.FirstLaunch, k.need); at < r.FirstLaunch && found < 2; at = d.known.Gaps.Next(at+1, r.FirstLaunch, k.need) {
		if target := r.Targets[at]; !target.ShutForGood && target.MayBeOn(lv, r.FirstLaunch) {
			h.targets[found] = target
			found++
		}
	}
	h.cost = math.Inf(1)
	for _, b := range r.Candidates {
		before := &d.pools[b.At]
		if d.twins.SpareFor(d.run.Candidates, lv.Wants).Has(b.At) {
			continue
		}
		terms, _ := b.Terms(lv.Wants)
		for _, t := range terms {
			for o := t.Options.Next(0); o >= 0; o = t.Options.Next(o + 1) {
				offering := b.Offering(b.Options[o])
				if before.AvailableNow.Has(o) && offering.Priced && amount.Fits(before.Most(b.Options[o].Kind), k.need) {
					h.cost = min(h.cost, demand.CostOf(offering)+float64(b.PerInstance()))
					break
				}
			}
		}
	}
	d.reachables[s] = h
	return h
}
