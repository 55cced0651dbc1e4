package nodeclaim

import (
	"strings"
	"testing"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
)

// tenanted is a kind that is offered in zone a with default and with dedicated tenancy,
// the one that is named being short.
func tenanted(short string) cluster.InstanceType {
	k := instanceType("m5.large", 2000, "a on-demand 96", "a on-demand 96")
	for i, tenancy := range []string{api.TenancyDefault, api.TenancyDedicated} {
		k.Offerings[i].Labels = k.Offerings[i].Labels.With(api.LabelTenancy, tenancy)
		k.Offerings[i].Available = tenancy != short
	}
	k.Offerings[1].Unless = constraint.Label{Key: api.LabelTenancy, Value: api.TenancyDefault}
	return k
}

func TestADedicatedMachineIsForWhoRulesTheDefaultOut(t *testing.T) {
	tests := map[string]struct {
		want     []constraint.Requirement
		short    string
		offering string
	}{
		"nobody asks":              {nil, "", "default"},
		"either will do":           {[]constraint.Requirement{want(api.LabelTenancy, constraint.In, "default", "dedicated")}, "", "default"},
		"dedicated is asked for":   {[]constraint.Requirement{want(api.LabelTenancy, constraint.In, "dedicated")}, "", "dedicated"},
		"the default is ruled out": {[]constraint.Requirement{want(api.LabelTenancy, constraint.NotIn, "default")}, "", "dedicated"},
		"not because it is left":   {nil, "default", ""},
		"nor the other way round":  {[]constraint.Requirement{want(api.LabelTenancy, constraint.In, "dedicated")}, "dedicated", ""},
		"not where either will do": {[]constraint.Requirement{want(api.LabelTenancy, constraint.Exists)}, "default", ""},
	}
	for name, tt := range tests {
		var got []string
		for _, o := range offered(tt.want, quantity.Resources{CPU: 1000}, []cluster.InstanceType{tenanted(tt.short)}) {
			got = append(got, map[bool]string{false: "default", true: "dedicated"}[o.Dedicated])
		}
		if strings.Join(got, " ") != tt.offering {
			t.Errorf("SC-471 %s: asks for %v, want %q", name, got, tt.offering)
		}
	}
}

func TestTheLabelOfTheTenancyIsThatOfTheMachine(t *testing.T) {
	catalogue := &cluster.Catalogue{InstanceTypes: []cluster.InstanceType{tenanted("")}}
	for dedicated, want := range map[bool]string{false: "default", true: "dedicated"} {
		_, o, _ := instanceTypeOf(catalogue, cloud.Machine{Kind: "m5.large", Zone: "a", Option: cluster.OnDemand, Dedicated: dedicated})
		if got, _ := o.Labels.Get(api.LabelTenancy); got != want {
			t.Errorf("dedicated %v: labelled %q, want %q", dedicated, got, want)
		}
	}
}
