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

// The bound of a cluster counts pods that would come again, on nodes of pools and those that instances are launched for, and all that is paid
// for each instance.
func TestTheBoundOfAClusterIsThatOfItsPods(t *testing.T) {
	id := cluster.PoolID{Kind: "NodePool", Name: "default"}
	has := quantity.Resources{CPU: 4000, Memory: 8 << 30, Pods: 50}.With("nvidia.com/gpu", 1)
	pool := cluster.Pool{ID: id, InstanceCost: 10_000,
		Catalogue: &cluster.Catalogue{InstanceTypes: []cluster.InstanceType{{
			Name: "g", Labels: constraint.NewLabels(map[string]string{cluster.LabelInstanceType: "g"}), Capacity: has, Allocatable: has,
			Offerings: []cluster.Offering{{Zone: "a", Option: "on-demand", Price: 390_000, Priced: true, Available: true}},
		}}}}
	pod := func(cpu quantity.MilliCPU, returns bool) cluster.Pod {
		return cluster.Pod{Returns: returns, Shape: &cluster.Shape{Requests: quantity.Resources{CPU: cpu, Pods: 1}}}
	}
	training := cluster.Pod{OneOff: "it is a Job's",
		Shape: &cluster.Shape{Requests: quantity.Resources{CPU: 100, Pods: 1}.With("nvidia.com/gpu", 3)}}
	s := &cluster.Snapshot{
		Pools: []cluster.Pool{pool}, Waiting: []cluster.Pod{pod(3000, true), pod(500_000, true)},
		Instances: []cluster.Instance{{Claim: "c", Pool: id, LaunchedFor: []cluster.Pod{pod(3000, true)}}},
		Nodes: []cluster.Node{
			{Name: "ours", Pool: id, Pods: []cluster.Pod{pod(3000, true), pod(9000, false)}},
			{Name: "of others", Pods: []cluster.Pod{pod(50_000, true)}},
		},
	}
	if got, want := floor.Cluster(s), 0.4*6/4; math.Abs(got-want) > 1e-6 {
		t.Errorf("pods that request 6 of 4 cores of an instance for $0.4 cost $%g at least, want $%g", got, want)
	}
	s.Nodes[0].Pods = append(s.Nodes[0].Pods, training)
	if got, want := floor.Cluster(s), 0.4*3; math.Abs(got-want) > 1e-6 {
		t.Errorf("pods that request 3 GPUs of one to an instance cost $%g at least, want $%g", got, want)
	}
	s.Pools[0].NotReady = "its class is not ready"
	if got := floor.Cluster(s); got != 0 {
		t.Errorf("without anything that could be launched the bound is $%g, want 0: not known", got)
	}
}
