package plan_test

import (
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/plan"
)

// What is launched is the offering that the launch's requirements leave, not just any of the zone
// by that capacity type.
func TestALaunchTakesTheOfferingThatItsRequirementsAllow(t *testing.T) {
	offering := func(zone string, option cluster.Option, reservation, tenancy string) cluster.Offering {
		o := cluster.Offering{Zone: zone, Option: option, Labels: constraint.NewLabels(map[string]string{"tenancy": tenancy})}
		if reservation != "" {
			o.Labels = o.Labels.With(cluster.LabelReservation, reservation)
		}
		if tenancy == "dedicated" {
			o.Unless = constraint.Label{Key: "tenancy", Value: "default"}
		}
		return o
	}
	catalogue := &cluster.Catalogue{InstanceTypes: []cluster.InstanceType{{Name: "m5.large", Offerings: []cluster.Offering{
		offering("a", cluster.OnDemand, "", "default"), offering("a", cluster.OnDemand, "", "dedicated"),
		offering("a", cluster.Reserved, "cr-1", "default"), offering("a", cluster.Reserved, "cr-2", "default"), offering("a", cluster.Reserved, "cr-3", "dedicated"),
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
		want   int // position among the offerings; -1: none
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
			var want *cluster.Offering
			if tt.want >= 0 {
				want = &catalogue.InstanceTypes[0].Offerings[tt.want]
			}
			if got := l.Offering(catalogue); got != want {
				t.Errorf("Offer = %+v, want %+v", got, want)
			}
		})
	}
}
