package cluster_test

import (
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

func TestANodeIsOnDemandByItsOwnLabelOrThatOfItsGroup(t *testing.T) {
	const own, managed = cluster.LabelCapacityType, "eks.amazonaws.com/capacityType"
	for name, tt := range map[string]struct {
		labels map[string]string
		want   cluster.Option
		spot   bool
	}{
		"of a NodePool, on demand":       {map[string]string{own: "on-demand"}, cluster.OnDemand, false},
		"of a NodePool, reserved":        {map[string]string{own: "reserved"}, cluster.Reserved, false},
		"of a NodePool, spot":            {map[string]string{own: "spot"}, cluster.Spot, true},
		"of a group, on demand":          {map[string]string{managed: "ON_DEMAND"}, cluster.OnDemand, false},
		"of a group, spot":               {map[string]string{managed: "SPOT"}, cluster.Spot, true},
		"of neither":                     {nil, "", true},
		"of a NodePool, labelled itself": {map[string]string{own: "spot", managed: "ON_DEMAND"}, cluster.Spot, true},
	} {
		n := cluster.Node{Labels: constraint.NewLabels(tt.labels)}
		if got := cluster.OptionOf(n.Labels); got != tt.want || n.IsSpot() != tt.spot {
			t.Errorf("%s: %q, spot: %t; want %q, %t", name, got, n.IsSpot(), tt.want, tt.spot)
		}
		s := &cluster.Snapshot{Nodes: []cluster.Node{n}}
		met := 0
		for _, term := range s.OnDemandTerms() {
			if _, ok := term.Allow(n.Labels); ok {
				met++
			}
		}
		if want := map[bool]int{false: 1, true: 0}[tt.spot]; met != want {
			t.Errorf("%s: the node meets %d of %v, want %d", name, met, s.OnDemandTerms(), want)
		}
	}
	labels := constraint.NewLabels(map[string]string{managed: "ON_DEMAND"})
	if m := (cluster.Instance{Labels: labels}); !m.MayBeSpot() {
		t.Error("an instance of a NodePool is on demand by a label of managed node groups")
	}
}
