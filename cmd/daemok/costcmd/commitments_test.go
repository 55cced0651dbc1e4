package costcmd

import (
	"reflect"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/quantity"
)

func TestParseCommitments(t *testing.T) {
	got, err := parseCommitments([]byte(`
reservedInstances:
- {id: web, instanceType: m5.large, count: 4, sizeFlexible: true}
- {id: db, instanceType: r5.xlarge, count: 2, zone: us-east-1a}
savingsPlans:
- {id: compute, commitment: 1.2, discount: 25%, rates: {m5.large: 0.07}}
`))
	want := &commitment.Commitments{
		Reserved: []commitment.ReservedInstances{
			{ID: "web", InstanceType: "m5.large", Count: 4, Flexible: true},
			{ID: "db", InstanceType: "r5.xlarge", Zone: "us-east-1a", Count: 2},
		},
		Plans: []commitment.SavingsPlan{{
			ID: "compute", Commitment: 1_200_000, Discount: 0.25,
			Rates: map[string]quantity.MicroUSDPerHour{"m5.large": 70_000},
		}},
	}
	if err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	refused := map[string]string{ // by what is wanted: the file
		"reservedInstances[0].instanceType: want one such as m5.large": "reservedInstances: [{id: a, instanceType: m5, count: 1}]",
		"reservedInstances[0].count: want 1 or more":                   "reservedInstances: [{id: a, instanceType: m5.large}]",
		"reservedInstances[0].id: want a name":                         "reservedInstances: [{instanceType: m5.large, count: 1}]",
		"reservedInstances[0].sizeFlexible: want false": "reservedInstances: " +
			"[{id: a, instanceType: m5.large, count: 1, zone: a, sizeFlexible: true}]",
		"savingsPlans[0].rates: want dollars an hour by instance type": "savingsPlans: [{id: a, commitment: 1}]",
		"savingsPlans[0].commitment: want dollars an hour":             "savingsPlans: [{id: a, discount: 10%}]",
		"savingsPlans[0].discount: want a percentage":                  "savingsPlans: [{id: a, commitment: 1, discount: a}]",
		"unknown field": "savingPlans: []",
	}
	for want, text := range refused {
		if _, err := parseCommitments([]byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
