package offering

import (
	"strings"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
)

// tenanted is a kind that is offered in zone a with default and with dedicated tenancy,
// the one that is named being short.
func tenanted(short string) cluster.InstanceType {
	k := kind("m5.large", 2000, "a on-demand 96", "a on-demand 96")
	for i, tenancy := range []string{"default", tenancyDedicated} {
		k.Offerings[i].Labels = k.Offerings[i].Labels.With(labelTenancy, tenancy)
		k.Offerings[i].Available = tenancy != short
	}
	k.Offerings[1].Unless = constraint.Label{Key: labelTenancy, Value: "default"}
	return k
}

func TestADedicatedInstanceIsForWhoRulesTheDefaultOut(t *testing.T) {
	tests := map[string]struct {
		want     []constraint.Requirement
		short    string
		offering string
	}{
		"nobody asks":              {nil, "", "default"},
		"either will do":           {[]constraint.Requirement{want(labelTenancy, constraint.In, "default", "dedicated")}, "", "default"},
		"dedicated is asked for":   {[]constraint.Requirement{want(labelTenancy, constraint.In, "dedicated")}, "", "dedicated"},
		"the default is ruled out": {[]constraint.Requirement{want(labelTenancy, constraint.NotIn, "default")}, "", "dedicated"},
		"not because it is left":   {nil, "default", ""},
		"nor the other way round":  {[]constraint.Requirement{want(labelTenancy, constraint.In, "dedicated")}, "dedicated", ""},
		"not where either will do": {[]constraint.Requirement{want(labelTenancy, constraint.Exists)}, "default", ""},
	}
	for name, tt := range tests {
		var got []string
		for _, o := range named(tt.want, quantity.Resources{CPU: 1000}, []cluster.InstanceType{tenanted(tt.short)}) {
			got = append(got, map[bool]string{false: "default", true: "dedicated"}[o.Dedicated()])
		}
		if strings.Join(got, " ") != tt.offering {
			t.Errorf("SC-471 %s: asks for %v, want %q", name, got, tt.offering)
		}
	}
}

func TestTheLabelOfTheTenancyIsThatOfTheInstance(t *testing.T) {
	catalogue := &cluster.Catalogue{InstanceTypes: []cluster.InstanceType{tenanted("")}}
	for dedicated, want := range map[bool]string{false: "default", true: "dedicated"} {
		_, o, _ := Of(catalogue, Identity{Type: "m5.large", Zone: "a", CapacityType: cluster.OnDemand, Dedicated: dedicated})
		if got, _ := o.Labels.Get(labelTenancy); got != want {
			t.Errorf("dedicated %v: labelled %q, want %q", dedicated, got, want)
		}
	}
}
