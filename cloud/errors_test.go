package cloud_test

import (
	"testing"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
)

func TestShortagesInWords(t *testing.T) {
	offer := func(kind string) cloud.OfferChoice {
		return cloud.OfferChoice{Kind: kind, Zone: "a", Option: cluster.Spot}
	}
	tests := map[string]struct {
		offers []cloud.OfferChoice
		want   string
	}{
		"nothing to ask for": {nil, "no capacity: why"},
		"one offer":          {[]cloud.OfferChoice{offer("m5.large")}, "no capacity for spot m5.large in a: why"},
		"more than three": {[]cloud.OfferChoice{offer("a"), offer("b"), offer("c"), offer("d"), offer("e")},
			"no capacity for spot a in a, spot b in a, spot c in a, 2 more: why"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := (&cloud.NoCapacityError{Offers: tt.offers, Cause: "why"}).Error(); got != tt.want {
				t.Errorf("Error = %q, want %q", got, tt.want)
			}
		})
	}
}
