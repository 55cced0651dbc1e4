// Package drawn draws what users of a simulated world ask for beside pods: overlays, quotas, minimums of on-demand
// nodes and commitments.
//
// Each function takes all its chance from the given source, so that equal seeds give equal worlds.
package drawn

import (
	"fmt"
	"math/rand/v2"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// Overlay is a NodeOverlay that changes prices.
func Overlay(r *rand.Rand, zones []string, name string) cluster.Overlay {
	on := []constraint.Requirement{
		{Key: cluster.LabelZone, Set: constraint.Values(zones[r.IntN(len(zones))])},
		{Key: cluster.LabelCapacityType, Set: constraint.Values([]string{"on-demand", "spot"}[r.IntN(2)])},
		{Key: "karpenter.sh/nodepool", Set: constraint.Values(fmt.Sprintf("p%d", r.IntN(3)))},
	}[r.IntN(3)]
	out := cluster.Overlay{Name: name, Weight: r.IntN(3), Requirements: constraint.NewRequirements(on)}
	switch r.IntN(3) {
	case 0:
		out.Price = cluster.PriceChange{How: cluster.PriceGrows, Percent: float64(r.IntN(120) - 60)}
	case 1:
		out.Price.How, out.Price.Amount = cluster.PriceAdds, quantity.MicroUSDPerHour(r.Int64N(100_000)-30_000)
	default:
		out.Price.How, out.Price.Amount = cluster.PriceIs, quantity.MicroUSDPerHour(20_000+r.Int64N(500_000))
	}
	return out
}

// Cost is a limit on what nodes cost an hour.
func Cost(r *rand.Rand) quantity.MicroUSDPerHour {
	return quantity.MicroUSDPerHour(300_000 + r.Int64N(3_000_000))
}

// Quota is a CapacityQuota.
func Quota(r *rand.Rand, zones []string, name string) cluster.Quota {
	out := cluster.Quota{Name: name}
	switch r.IntN(4) {
	case 0:
		out.Selector = constraint.NewRequirements(constraint.Requirement{Key: cluster.LabelZone,
			Set: constraint.Values(zones[r.IntN(len(zones))])})
	case 1:
		out.Selector = constraint.NewRequirements(constraint.Requirement{Key: cluster.LabelCapacityType,
			Set: constraint.Values([]string{"on-demand", "spot"}[r.IntN(2)])})
	case 2:
		out.Selector = constraint.NewRequirements(constraint.Requirement{Key: "karpenter.sh/nodepool",
			Set: constraint.Values(fmt.Sprintf("p%d", r.IntN(3)))})
	}
	nodes, cost := 2+r.Int64N(10), Cost(r)
	switch r.IntN(3) {
	case 0:
		out.Limits.Nodes = &nodes
	case 1:
		out.Limits.Amounts = []quantity.Extended{{Name: "cpu", Amount: 8_000 * (1 + r.Int64N(10))}}
	default:
		out.Limits.Cost = &cost
	}
	return out
}

// Minimum is one of on-demand nodes, as a number or a share.
func Minimum(r *rand.Rand) cluster.Minimum {
	if r.IntN(2) == 0 {
		return cluster.Minimum{Least: 1 + r.Int64N(3)}
	}
	return cluster.Minimum{Least: 10 * (1 + r.Int64N(8)), Percent: true}
}

// Commitments are Reserved Instances and Savings Plans for instance types of the catalogue.
func Commitments(r *rand.Rand, of *cluster.Catalogue) (out commitment.Commitments) {
	types := of.InstanceTypes
	for i := range 1 + r.IntN(2) {
		one := commitment.ReservedInstances{ID: fmt.Sprintf("ri%d", i), InstanceType: types[r.IntN(len(types))].Name,
			Count: 1 + r.Int64N(4)}
		switch r.IntN(3) {
		case 0:
			one.Zone = types[0].Offerings[r.IntN(len(types[0].Offerings))].Zone
		case 1:
			one.Flexible = true
		}
		if r.IntN(4) == 0 {
			one.Elsewhere = 1
		}
		out.Reserved = append(out.Reserved, one)
	}
	for i := range r.IntN(3) {
		one := commitment.SavingsPlan{ID: fmt.Sprintf("plan%d", i), Discount: 0.2 + 0.3*r.Float64(),
			Commitment: quantity.MicroUSDPerHour(100_000 + r.Int64N(900_000))}
		if r.IntN(2) == 0 {
			one.Family, _, _ = strings.Cut(types[r.IntN(len(types))].Name, ".")
		}
		out.Plans = append(out.Plans, one)
	}
	return out
}
