package snapshot

import (
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// TestAnUnknownPriceIsNone: a node whose type, zone or option is not offered, or
// at no known price, costs nothing, which none takes for a saving.
func TestAnUnknownPriceIsNone(t *testing.T) {
	offerings := func(ref karpv1.NodeClassReference) (*cluster.Catalogue, string) {
		return &cluster.Catalogue{InstanceTypes: []cluster.InstanceType{{Name: "m5.large", Offerings: []cluster.Offering{
			{Zone: "a", Option: cluster.OnDemand, Price: 96_000, Priced: true}, {Zone: "a", Option: cluster.Spot, Price: 30_000},
		}}}}, ""
	}
	tests := map[string]struct {
		kind, zone, option string
		want               quantity.MicroUSDPerHour
	}{
		"an offer that is not available any more":    {"m5.large", "a", "on-demand", 96_000},
		"a price that is not known":                  {"m5.large", "a", "spot", 0},
		"another zone":                               {"m5.large", "b", "on-demand", 0},
		"a type that is offered no more":             {"m4.large", "a", "on-demand", 0},
		"a node that does not say how it was bought": {"m5.large", "a", "", 0},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			k := newClusterState()
			k.kinds = offerings
			c := claimOf("n", karpv1.ClaimRegistered)
			c.Labels[api.LabelInstanceType], c.Labels[api.LabelZone], c.Labels[api.LabelCapacityType] = tt.kind, tt.zone, tt.option
			k.Seen(c)
			n := node("n")
			n.Labels[api.LabelInstanceType], n.Labels[api.LabelZone], n.Labels[api.LabelCapacityType] = tt.kind, tt.zone, tt.option
			k.Seen(n)
			got := k.Snapshot().Nodes[0]
			if got.Price != tt.want {
				t.Errorf("the node costs %v, want %v", got.Price, tt.want)
			}
			for key, want := range map[string]string{cluster.LabelInstanceType: tt.kind, cluster.LabelZone: tt.zone, cluster.LabelCapacityType: tt.option} {
				if value, _ := got.Labels.Get(key); value != want {
					t.Errorf("label %s is %q, want %q", key, value, want)
				}
			}
		})
	}
}
