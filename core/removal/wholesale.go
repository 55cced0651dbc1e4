package removal

import (
	"math"
	"slices"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/bound"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/supply"
)

// wholesale is what all pools offer. It says quickly what instances for some pods cost at least.
type wholesale struct {
	columns []bound.Column // without those that have no more of anything than another one that costs no more
	each    []float64      // by resource: what one unit costs at least if nothing else counts
}

// newWholesale looks at pools as they were before anything was launched.
func newWholesale(candidates []*supply.Candidate, pools []supply.Saved, resources int) *wholesale {
	out := &wholesale{each: make([]float64, resources)}
	for i := range out.each {
		out.each[i] = math.Inf(1)
	}
	for at, b := range candidates {
		if b.Twin() {
			continue
		}
		before, least := &pools[at], make([]float64, len(b.Kinds))
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

// cheapest is what the cheapest instance of the offering set costs that has room for one such pod; infinity if there is
// none.
func cheapest(pools []supply.Saved, m *demand.OfferingSet, need []int64) float64 {
	least := math.Inf(1)
	if m.Various == nil {
		m.Various = various(m.ByPool)
	}
	for _, s := range m.Various {
		before := &pools[s.Candidate.At]
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
