package place

import (
	"maps"
	"math"
	"slices"

	"github.com/daemok/daemok/core/bound"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// prover works out the lower bound on what the launches of the answer can cost.
type prover struct {
	run *run
}

// prove works out what instances for the pods of the launches must cost at
// least, and what one unit of each resource costs at the margin: the sum over
// the tiers of pools of the linear program in which pods may be cut and no
// rule counts but amounts and what each pod may be on. There is none where a
// instance without a price, or one that is paid for already or had so many times only, is offered.
func (pv *prover) prove() {
	if pv.run.provisioner.Reserved.Left != nil {
		return
	}
	least, most := 0.0, 0.0
	tiers := pv.clienteles()
	for _, tier := range slices.Sorted(maps.Keys(tiers)) {
		offerings, ok := pv.available(tier, tiers[tier])
		if !ok {
			pv.run.out.Margins = nil
			return
		}
		answer := tiers[tier].least(offerings)
		least += answer.Cost
		if answer.Cost > most {
			most = answer.Cost
			pv.run.out.Margins = pv.margins(tiers[tier], answer.Worth)
		}
	}
	pv.run.out.Bound = quantity.MicroUSDPerHour(least)
}

// offered lists what pools of the tier offer, each instance type at its best price for the
// same classes of pods.
func (pv *prover) available(tier int, to *clientele) (out []bound.Offering, ok bool) {
	for _, b := range pv.run.Candidates {
		if b.Weight != tier {
			continue
		}
		type sale struct {
			kind int
			open uint64
		}
		at := map[sale]int{}
		for i := b.AvailableNow.Next(0); i >= 0; i = b.AvailableNow.Next(i + 1) {
			o := b.Options[i]
			if offering := b.Offering(o); !offering.Priced || offering.Option == cluster.Reserved {
				return nil, false
			}
			s := sale{o.Kind, to.open(b, i)}
			cost := b.Price[i] - b.Surplus(o.Kind, b.Free[o.Kind])
			known, found := at[s]
			if !found {
				at[s] = len(out)
				out = append(out, b.AvailableAs(o.Kind, cost, s.open)...)
			} else if cost < out[known].Price {
				out[known].Price = cost
			}
		}
	}
	return slices.DeleteFunc(out, func(o bound.Offering) bool { return o.Open == 0 }), true
}

// units are what prices of resources are given for, where it is not a piece.
func units(resource string) float64 {
	switch resource {
	case quantity.NameCPU:
		return 1000
	case quantity.NameMemory, quantity.NameEphemeralStorage:
		return float64(quantity.GiB)
	}
	return 1
}

// differs is by what share a price in one zone is another one.
const differs = 0.005

// margins lists what resources cost to pods that may be in several zones, and
// then what those that are tied to one zone cost where that is different.
// Where there are several classes of either, the one that asks for most of the
// resource counts.
func (pv *prover) margins(c *clientele, worth [][]float64) []plan.Margin {
	zones := make([]string, len(c.classes))
	for i, x := range c.classes {
		zones[i] = x.zone(pv.run)
	}
	price := func(resource int, zone string) (float64, bool) {
		at := -1
		for i, x := range c.classes {
			if zones[i] == zone && x.sum[resource] > 0 && (at < 0 || x.sum[resource] > c.classes[at].sum[resource]) {
				at = i
			}
		}
		if at < 0 {
			return 0, false
		}
		return worth[at][resource], true
	}
	var out []plan.Margin
	places := slices.Clone(zones)
	slices.Sort(places)
	for _, zone := range slices.Compact(places) {
		for i, name := range pv.run.Dims.Resources {
			w, ok := price(i, zone)
			elsewhere, both := price(i, "")
			if !ok || both && zone != "" && math.Abs(w-elsewhere) <= float64(differs*elsewhere) {
				continue
			}
			if p := quantity.MicroUSDPerHour(float64(w * units(name))); p > 0 {
				out = append(out, plan.Margin{Resource: name, Zone: zone, Price: p})
			}
		}
	}
	return out
}
