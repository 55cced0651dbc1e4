package fleet

import (
	"fmt"
	"testing"

	"github.com/daemok/daemok/core/cluster"
)

// Where prices are not those of AWS, EC2 follows the order of the request, in whole numbers from 0, and does not
// choose by its own prices.
func TestEC2FollowsTheOrderWherePricesAreNotItsOwn(t *testing.T) {
	ranks := map[string]float64{
		"m6g.large us-east-1b": 0, "m5.large us-east-1a": 1, "m5.large us-east-1b": 2, "m5.xlarge us-east-1a": 3,
	}
	prices := map[string]float64{
		"m6g.large us-east-1b": 0.02, "m5.large us-east-1a": 0.03, "m5.large us-east-1b": 0.04, "m5.xlarge us-east-1a": 0.06,
	}
	tests := map[string]struct {
		option   cluster.Option
		ordered  bool
		strategy string
		want     map[string]float64 // priorities by type and zone
	}{
		"on-demand":                 {cluster.OnDemand, true, "prioritized", ranks},
		"spot":                      {cluster.Spot, true, "capacity-optimized-prioritized", ranks},
		"on-demand at AWS's prices": {cluster.OnDemand, false, "lowest-price", prices},
		"spot at AWS's prices":      {cluster.Spot, false, "price-capacity-optimized", prices},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			o, err := build(request(t, func(r *Request) {
				r.Launch.Ordered = tt.ordered
				for i := range r.Launch.Options {
					r.Launch.Options[i].Option = tt.option
				}
			}))
			if err != nil {
				t.Fatal(err)
			}
			got := map[string]float64{}
			for _, c := range o.fleet.LaunchTemplateConfigs {
				for _, over := range c.Overrides {
					got[string(over.InstanceType)+" "+*over.AvailabilityZone] = *over.Priority
				}
			}
			if fmt.Sprint(got) != fmt.Sprint(tt.want) {
				t.Errorf("priorities are %v, want %v", got, tt.want)
			}
			strategy := ""
			if o.fleet.SpotOptions != nil {
				strategy = string(o.fleet.SpotOptions.AllocationStrategy)
			} else if o.fleet.OnDemandOptions != nil {
				strategy = string(o.fleet.OnDemandOptions.AllocationStrategy)
			}
			if strategy != tt.strategy {
				t.Errorf("the strategy is %q, want %q", strategy, tt.strategy)
			}
		})
	}
}
