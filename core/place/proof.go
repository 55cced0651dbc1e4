package place

import (
	"maps"
	"slices"

	"github.com/daemok/daemok/core/bound"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// prove works out what machines for the pods of the launches must cost at
// least, and what one unit of each resource costs at the margin: the sum over
// the tiers of pools of the linear program in which pods may be cut and no
// rule but amounts counts. There is none where a machine without a price, or
// one that is paid for already, is sold.
func (r *run) prove() {
	least, most := 0.0, 0.0
	demand := r.onLaunches()
	for _, tier := range slices.Sorted(maps.Keys(demand)) {
		columns, ok := r.sold(tier)
		if !ok {
			r.out.Margins = nil
			return
		}
		answer := bound.Cover(positive(demand[tier]), columns)
		least += answer.Cost
		if answer.Cost > most {
			most = answer.Cost
			r.out.Margins = r.margins(answer.Worth)
		}
	}
	r.out.Bound = quantity.MicroUSDPerHour(least)
}

// onLaunches sums up the pods on machines of this plan, by the tier of these.
func (r *run) onLaunches() map[int][]int64 {
	out := map[int][]int64{}
	for _, x := range r.seated {
		if x.on != plan.OnLaunch {
			continue
		}
		tier := r.launched[x.launch].buyer.Weight
		if out[tier] == nil {
			out[tier] = make([]int64, r.dims.len())
		}
		take(out[tier], x.group.need, -1)
	}
	return out
}

// sold lists what pools of the tier sell, each kind at its best price.
func (r *run) sold(tier int) (out []bound.Column, ok bool) {
	for _, b := range r.buyers {
		if b.Weight != tier {
			continue
		}
		best := make([]float64, len(b.free))
		for i := b.available.Next(0); i >= 0; i = b.available.Next(i + 1) {
			o := b.Options[i]
			if offer := b.Offer(o); !offer.Priced || offer.Option == cluster.Reserved {
				return nil, false
			}
			if best[o.Kind] == 0 || b.cost[i] < best[o.Kind] {
				best[o.Kind] = b.cost[i]
			}
		}
		for kind, cost := range best {
			if cost > 0 {
				out = append(out, bound.Column{Price: cost, Has: positive(b.free[kind])})
			}
		}
	}
	return out, true
}

// units are what prices of resources are told for, where it is not a piece.
func units(resource string) float64 {
	switch resource {
	case quantity.NameCPU:
		return 1000
	case quantity.NameMemory, quantity.NameEphemeralStorage:
		return float64(quantity.GiB)
	}
	return 1
}

func (r *run) margins(worth []float64) []plan.Margin {
	var out []plan.Margin
	for i, name := range r.dims.resources {
		if price := quantity.MicroUSDPerHour(float64(worth[i] * units(name))); price > 0 {
			out = append(out, plan.Margin{Resource: name, Price: price})
		}
	}
	return out
}
