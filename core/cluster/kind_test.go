package cluster_test

import (
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// An instance has what is there on request if it is launched for pods that ask for that; all else
// it has in any case.
func TestOrderedInstancesHaveWhatIsAskedFor(t *testing.T) {
	const adapter, gpu = "vpc.amazonaws.com/efa", "nvidia.com/gpu"
	all := quantity.Resources{CPU: 72_000}.With(adapter, 4).With(gpu, 8)
	tests := map[string]struct {
		onRequest []string
		requests  quantity.Resources
		adapters  int64
	}{
		"pods ask for one":           {[]string{adapter}, quantity.Resources{CPU: 1000}.With(adapter, 1), 4},
		"no pod asks":                {[]string{adapter}, quantity.Resources{CPU: 1000}, 0},
		"pods ask for another":       {[]string{adapter}, quantity.Resources{}.With(gpu, 1), 0},
		"it is there without asking": {nil, quantity.Resources{CPU: 1000}, 4},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			k := cluster.InstanceType{Allocatable: all, Capacity: all.With("pods", 110), OnRequest: tt.onRequest}
			allocatable, capacity := k.Ordered(tt.requests)
			if allocatable.Get(adapter) != tt.adapters || capacity.Get(adapter) != tt.adapters {
				t.Errorf("%s for pods, %s in all; want %d of %s", allocatable, capacity, tt.adapters, adapter)
			}
			if allocatable.Get(gpu) != 8 || capacity.Pods != 110 || k.Allocatable.Get(adapter) != 4 {
				t.Errorf("%s for pods, %s in all, of a kind with %s; want all else as it is", allocatable, capacity, k.Allocatable)
			}
		})
	}
}
