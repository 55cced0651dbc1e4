package plan_test

import (
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
)

// What is bought is the offer that the launch's requirements leave, not just any of the
// zone by that way to pay.
func TestALaunchIsBoughtByTheOfferThatItsRequirementsAllow(t *testing.T) {
	offer := func(zone string, option cluster.Option, reservation, tenancy string) cluster.Offer {
		o := cluster.Offer{Zone: zone, Option: option, Labels: constraint.NewLabels(map[string]string{"tenancy": tenancy})}
		if reservation != "" {
			o.Labels = o.Labels.With(cluster.LabelReservation, reservation)
		}
		if tenancy == "dedicated" {
			o.Unless = constraint.Label{Key: "tenancy", Value: "default"}
		}
		return o
	}
	catalogue := &cluster.Catalogue{Kinds: []cluster.Kind{{Name: "m5.large", Offers: []cluster.Offer{
		offer("a", cluster.OnDemand, "", "default"), offer("a", cluster.OnDemand, "", "dedicated"),
		offer("a", cluster.Reserved, "cr-1", "default"), offer("a", cluster.Reserved, "cr-2", "default"), offer("a", cluster.Reserved, "cr-3", "dedicated"),
	}}}}
	only := func(key, value string) constraint.Requirements {
		return constraint.Requirements{{Key: key, Set: constraint.Values(value)}}
	}
	at := func(zone string, option cluster.Option) plan.Choice {
		return plan.Choice{Kind: "m5.large", Zone: zone, Option: option}
	}
	tests := map[string]struct {
		choice plan.Choice
		asks   constraint.Requirements
		want   int // position among the offers; -1: none
	}{
		"on demand":                        {at("a", cluster.OnDemand), nil, 0},
		"dedicated, where that is asked":   {at("a", cluster.OnDemand), only("tenancy", "dedicated"), 1},
		"the first of several":             {at("a", cluster.Reserved), nil, 2},
		"its own reservation":              {at("a", cluster.Reserved), only(cluster.LabelReservation, "cr-2"), 3},
		"none of a reservation for others": {at("a", cluster.Reserved), only(cluster.LabelReservation, "cr-3"), -1},
		"none in another zone":             {at("b", cluster.OnDemand), nil, -1},
		"none of another kind":             {plan.Choice{Kind: "m6.large", Zone: "a", Option: cluster.OnDemand}, nil, -1},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			l := plan.Launch{Choice: tt.choice, Requirements: tt.asks}
			var want *cluster.Offer
			if tt.want >= 0 {
				want = &catalogue.Kinds[0].Offers[tt.want]
			}
			if got := l.Offer(catalogue); got != want {
				t.Errorf("Offer = %+v, want %+v", got, want)
			}
		})
	}
}
