package cloud_test

import (
	"testing"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
)

func TestShortagesInWords(t *testing.T) {
	offering := func(kind string) cloud.OfferingChoice {
		return cloud.OfferingChoice{Kind: kind, Zone: "a", Option: cluster.Spot}
	}
	tests := map[string]struct {
		offerings []cloud.OfferingChoice
		want      string
	}{
		"nothing to ask for": {nil, "no capacity: why"},
		"one offer":          {[]cloud.OfferingChoice{offering("m5.large")}, "no capacity for spot m5.large in a: why"},
		"more than three": {[]cloud.OfferingChoice{offering("a"), offering("b"), offering("c"), offering("d"), offering("e")},
			"no capacity for spot a in a, spot b in a, spot c in a, 2 more: why"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (&cloud.NoCapacityError{Offerings: tt.offerings, Cause: "why"}).Error(); got != tt.want {
				t.Errorf("Error = %q, want %q", got, tt.want)
			}
		})
	}
}
