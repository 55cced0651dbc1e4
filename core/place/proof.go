package place

import (
	"maps"
	"math"
	"slices"

	"github.com/daemok/daemok/core/bound"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
)

// prover computes the lower bound on what the launches of the answer can cost.
type prover struct {
	run *Run
}

// prove computes what instances for the pods of the launches must cost at least, and what one unit of each resource
// costs at the margin. It sums up, over the tiers of pools, a linear program in which pods may be divided, and only
// amounts and the offerings of each pod count. There is no bound if some offering has no price, is reserved capacity, or
// allows only so many instances.
func (pv *prover) prove() {
	if pv.run.Provisioner.Reserved.Left != nil {
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

// available lists the available options of pools of the tier, each instance type at its best price for the same classes
// of pods. The result ok is false if one has no price, or is reserved capacity.
func (pv *prover) available(tier int, to *clientele) (out []bound.Offering, ok bool) {
	for _, b := range pv.run.Candidates {
		if b.Weight != tier {
			continue
		}
		if !b.AllPriced() {
			return nil, false
		}
		known, useful := make([][]int, len(b.Kinds)), to.useful(b) // positions in the list; options
		for i := useful.Next(0); i >= 0; i = useful.Next(i + 1) {
			o := b.Options[i]
			open, cost := to.open(b, i), b.Price[i]-b.Surplus(o.Kind, b.Free[o.Kind])
			if at := slices.IndexFunc(known[o.Kind], func(at int) bool { return out[at].Open == open }); at >= 0 {
				same := &out[known[o.Kind][at]]
				same.Price = min(same.Price, cost)
				continue
			}
			if open != 0 {
				known[o.Kind] = append(known[o.Kind], len(out))
				out = append(out, b.AvailableAs(o.Kind, cost, open)...)
			}
		}
	}
	return out, true
}

// units is the amount of the resource that its price is given for.
func units(resource string) float64 {
	switch resource {
	case quantity.NameCPU:
		return 1000
	case quantity.NameMemory, quantity.NameEphemeralStorage:
		return float64(quantity.GiB)
	}
	return 1
}

// differs is the share by which a price in one zone must differ to be listed.
const differs = 0.005

// margins lists what resources cost for pods that may be in several zones, and then, where that is different, for pods
// that may only be in one zone. Of several such classes, the one that asks for most of the resource counts.
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
