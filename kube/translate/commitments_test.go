package translate

import (
	"reflect"
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
)

func TestParseCommitments(t *testing.T) {
	got, err := ParseCommitments([]byte(`
reservedInstances:
- {id: web, instanceType: m5.large, count: 4, usedElsewhere: 1, sizeFlexible: true}
- {id: db, instanceType: r5.xlarge, count: 2, zone: us-east-1a}
savingsPlans:
- {id: compute, commitment: 1.2, usedElsewhere: 0.2, discount: 25%, rates: {m5.large: 0.07}}
`), false)
	want := &commitment.Commitments{
		Reserved: []commitment.ReservedInstances{
			{ID: "web", InstanceType: "m5.large", Count: 4, Elsewhere: 1, Flexible: true},
			{ID: "db", InstanceType: "r5.xlarge", Zone: "us-east-1a", Count: 2},
		},
		Plans: []commitment.SavingsPlan{{
			ID: "compute", Commitment: 1_200_000, Elsewhere: 200_000, Discount: 0.25,
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
		"reservedInstances[0].usedElsewhere: want from 0 to count": "reservedInstances: " +
			"[{id: a, instanceType: m5.large, count: 1, usedElsewhere: 2}]",
		"savingsPlans[0].usedElsewhere: want dollars an hour": "savingsPlans: " +
			"[{id: a, commitment: 1, discount: 10%, usedElsewhere: 1.1}]",
		"savingsPlans[0].id: want a name that no other has": "{reservedInstances: " +
			"[{id: a, instanceType: m5.large, count: 1}], savingsPlans: [{id: a, commitment: 1, discount: 10%}]}",
	}
	for want, text := range refused {
		if _, err := ParseCommitments([]byte(text), false); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}

func TestReadCommitments(t *testing.T) {
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "kube-system", Name: api.ConfigMapCommitments}}
	for name, tt := range map[string]struct {
		data map[string]string
		want string // in the error; empty: none
	}{
		"nothing":     {nil, ""},
		"a file":      {map[string]string{api.CommitmentsFile: "reservedInstances: []"}, ""},
		"another key": {map[string]string{"commitments": ""}, "data.commitments means nothing: the key is "},
		"a wrong field": {map[string]string{api.CommitmentsFile: "savingsPlans: [{id: a, discount: 5%}]"},
			"ConfigMap kube-system/daemok-commitments: data[commitments.yaml]: savingsPlans[0].commitment: want dollars an hour, above 0"},
		"a broken line": {map[string]string{api.CommitmentsFile: "savingsPlans:\n- {id: a"}, "line 2"},
	} {
		c.Data = tt.data
		got := ""
		if _, err := ReadCommitments(c, false); err != nil {
			got = err.Error()
		}
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) {
			t.Errorf("%s: got %q, want %q", name, got, tt.want)
		}
	}
}

// Where the account's commitments are known, an entry may say no more than how much of one is used elsewhere; else it
// lacks what it is.
func TestCommitmentsOfTheAccountAreNamedByTheirIDs(t *testing.T) {
	text := []byte(`
reservedInstances: [{id: r-1, usedElsewhere: 2}]
savingsPlans: [{id: s-1, usedElsewhere: 0.4}]
`)
	want := &commitment.Commitments{
		Reserved: []commitment.ReservedInstances{{ID: "r-1", Elsewhere: 2}},
		Plans:    []commitment.SavingsPlan{{ID: "s-1", Elsewhere: 400_000}},
	}
	if got, err := ParseCommitments(text, true); err != nil || !reflect.DeepEqual(got, want) {
		t.Errorf("got %+v, %v; want %+v", got, err, want)
	}
	_, err := ParseCommitments(text, false)
	if err == nil || !strings.Contains(err.Error(), "reservedInstances[0].count: want 1 or more") {
		t.Errorf("without the account's: got %v, want that the count is lacking", err)
	}
	for text, want := range map[string]string{
		"reservedInstances: [{id: r, usedElsewhere: -1}]":       "reservedInstances[0].usedElsewhere: want 0 or more",
		"savingsPlans: [{usedElsewhere: 1}]":                    "savingsPlans[0].id: want a name",
		"savingsPlans: [{id: s-1, usedElsewhere: -0.1}]":        "savingsPlans[0].usedElsewhere: want 0 or more",
		"reservedInstances: [{id: a, count: 1}]":                "reservedInstances[0].instanceType: want one such as m5.large",
		"reservedInstances: [{id: a}]\nsavingsPlans: [{id: a}]": "savingsPlans[0].id: want a name that no other has",
	} {
		if _, err := ParseCommitments([]byte(text), true); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: got %v, want %q", text, err, want)
		}
	}
}
