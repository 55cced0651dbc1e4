package cluster_test

import (
	"math"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// What a spot instance costs in the mean, where the cloud takes what seems cheapest to it and each
// price seems up to half more expensive.
func TestLikelySpot(t *testing.T) {
	for name, tt := range map[string]struct {
		prices []quantity.MicroUSDPerHour
		mean   float64
	}{
		"nothing is named":               {nil, 0},
		"one offer costs what it costs":  {[]quantity.MicroUSDPerHour{100_000}, 100_000},
		"equal offers cost what each is": {[]quantity.MicroUSDPerHour{100_000, 100_000, 100_000}, 100_000},
		// The second is taken where 1.1 x its scarcity is less than that of the first, both
		// between 1 and 1.5: 4 x the integral of s/1.1 - 1 from 1.1 to 1.5, which is 0.2909.
		"of two the more expensive one is taken at times": {[]quantity.MicroUSDPerHour{100_000, 110_000}, 102_909},
		"what is half more expensive is never taken":      {[]quantity.MicroUSDPerHour{100_000, 150_000}, 100_000},
	} {
		t.Run(name, func(t *testing.T) {
			if got := float64(cluster.LikelySpot(tt.prices)); math.Abs(got-tt.mean) > tt.mean/1000 {
				t.Errorf("%.0f, want %.0f", got, tt.mean)
			}
		})
	}
}
