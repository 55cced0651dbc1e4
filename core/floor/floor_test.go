package floor_test

import (
	"math"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/floor"
	"github.com/daemok/daemok/core/quantity"
)

// Pods with 2 GiB for a core suit one type, pods with 8 GiB the other. Mixed, with 5 GiB for a core, they take as many
// of the larger type as they have cores, and 3 GiB of each hold nothing.
func TestMixedPodsNeedInstancesOfOneType(t *testing.T) {
	instanceType := func(name string, gib quantity.Bytes, price quantity.MicroUSDPerHour) cluster.InstanceType {
		has := quantity.Resources{CPU: 1000, Memory: gib << 30, Pods: 100}
		return cluster.InstanceType{Name: name,
			Labels: constraint.NewLabels(map[string]string{cluster.LabelInstanceType: name}), Capacity: has, Allocatable: has,
			Offerings: []cluster.Offering{{Zone: "a", Option: "on-demand", Price: price, Priced: true,
				Available: true}}}
	}
	pool := cluster.Pool{ID: cluster.PoolID{Name: "default"},
		Catalogue: &cluster.Catalogue{InstanceTypes: []cluster.InstanceType{instanceType("c", 2, 40_000),
			instanceType("r", 8, 60_000)}}}
	of := floor.New([]cluster.Pool{pool}, nil)
	for name, tt := range map[string]struct {
		wanted      quantity.Resources
		least, most float64
	}{
		"pods of both sorts": {quantity.Resources{CPU: 20_000, Memory: 100 << 30, Pods: 20}, 10*0.04 + 10*0.06,
			20 * 0.06},
		"pods of one sort": {quantity.Resources{CPU: 10_000, Memory: 20 << 30, Pods: 10}, 10 * 0.04, 10 * 0.04},
		"pods of another":  {quantity.Resources{CPU: 10_000, Memory: 80 << 30, Pods: 10}, 10 * 0.06, 10 * 0.06},
		"no pods":          {},
	} {
		least, mixed := of.DollarsPerHour(tt.wanted)
		if math.Abs(least-tt.least) > 1e-6 || math.Abs(mixed-tt.most) > 1e-6 {
			t.Errorf("%s cost $%g an hour and $%g mixed, want $%g and $%g", name, least, mixed, tt.least, tt.most)
		}
	}
}
