package floor_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/core/floor"
	"github.com/daemok/daemok/core/quantity"
)

// The bound of a cluster counts pods that would come again, on nodes of pools and those that instances are launched
// for, and all that is paid for each instance.
func TestTheBoundOfAClusterIsThatOfItsPods(t *testing.T) {
	id := cluster.PoolID{Kind: "NodePool", Name: "default"}
	has := quantity.Resources{CPU: 4000, Memory: 8 << 30, Pods: 50}.With("nvidia.com/gpu", 1)
	pool := cluster.Pool{ID: id, InstanceCost: 10_000,
		Catalogue: &cluster.Catalogue{InstanceTypes: []cluster.InstanceType{{
			Name: "g", Labels: constraint.NewLabels(map[string]string{cluster.LabelInstanceType: "g"}),
			Capacity: has, Allocatable: has,
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
			{Name: "ours", Pool: id, Price: 2_000_000, Pods: []cluster.Pod{pod(3000, true), pod(9000, false)}},
			{Name: "of others", Price: 2_000_000, Pods: []cluster.Pod{pod(50_000, true)}},
			{Name: "of a pool that is gone", Pool: cluster.PoolID{Kind: "NodePool", Name: "gone"}, Price: 2_000_000,
				Pods: []cluster.Pod{pod(50_000, true)}},
		},
	}
	if got, want := floor.Cluster(s), 0.4*6/4; math.Abs(got-want) > 1e-6 {
		t.Errorf("pods that request 6 of 4 cores of an instance for $0.4 cost $%g at least, want $%g", got, want)
	}
	s.Nodes[0].Pods = append(s.Nodes[0].Pods, training)
	if got, want := floor.Cluster(s), 0.4*3; math.Abs(got-want) > 1e-6 {
		t.Errorf("pods that request 3 GPUs of one to an instance cost $%g at least, want $%g", got, want)
	}
	s.Pools[0].NotReady, s.Pools[0].Catalogue = "its class is not ready", nil
	if got := floor.Cluster(s); got != 0 {
		t.Errorf("without anything that could be launched the bound is $%g, want 0: not known", got)
	}
}

// What is unavailable for a while counts as if it could be launched, and a node as what it holds for its price.
// Reserved capacity is paid for already, and an unknown price may be any: then there is no bound.
func TestTheBoundIsNotKnownWherePricesAreNot(t *testing.T) {
	for name, tt := range map[string]struct {
		change func(*cluster.Snapshot, *cluster.Offering)
		want   float64
	}{
		"as it is": {func(*cluster.Snapshot, *cluster.Offering) {}, 0.2},
		"its spot offering is unavailable": {
			func(_ *cluster.Snapshot, o *cluster.Offering) { o.Option, o.Available = cluster.Spot, false }, 0.2},
		"its pool is not ready": {
			func(s *cluster.Snapshot, _ *cluster.Offering) { s.Pools[0].NotReady = "its subnets are full" }, 0.2},
		"its node costs less than what is launched now": {
			func(s *cluster.Snapshot, _ *cluster.Offering) { s.Nodes[0].Price = 100_000 }, 0.1},
		"the price of its node is not known": {
			func(s *cluster.Snapshot, _ *cluster.Offering) { s.Nodes[0].Price = 0 }, 0},
		"an unavailable offering has no price": {
			func(s *cluster.Snapshot, o *cluster.Offering) {
				none := cluster.Offering{Zone: "b", Option: "on-demand"}
				instanceType := &s.Pools[0].Catalogue.InstanceTypes[0]
				instanceType.Offerings = append(instanceType.Offerings, none)
			}, 0.2},
		"an offering has no price": {func(_ *cluster.Snapshot, o *cluster.Offering) { o.Priced = false }, 0},
		"a reservation is full": {
			func(_ *cluster.Snapshot, o *cluster.Offering) { o.Option, o.Available = cluster.Reserved, false }, 0},
		"a node is reserved": {
			func(s *cluster.Snapshot, _ *cluster.Offering) {
				s.Nodes[0].Labels = constraint.NewLabels(map[string]string{cluster.LabelCapacityType: "reserved"})
			}, 0},
	} {
		s := &cluster.Snapshot{Pools: []cluster.Pool{poolOf("default", instanceType("m", 4, 400_000))},
			Nodes: []cluster.Node{{Name: "n", Pool: poolOf("default").ID, Price: 400_000, Pods: []cluster.Pod{
				{Returns: true, Shape: &cluster.Shape{Requests: quantity.Resources{CPU: 2000, Pods: 1}}}}}}}
		tt.change(s, &s.Pools[0].Catalogue.InstanceTypes[0].Offerings[0])
		if got := floor.Cluster(s); math.Abs(got-tt.want) > 1e-6 {
			t.Errorf("where %s the bound is $%g, want $%g", name, got, tt.want)
		}
	}
}

func poolOf(name string, types ...cluster.InstanceType) cluster.Pool {
	return cluster.Pool{ID: cluster.PoolID{Kind: "NodePool", Name: name},
		Catalogue: &cluster.Catalogue{InstanceTypes: types}}
}

func instanceType(name string, cores quantity.MilliCPU, price quantity.MicroUSDPerHour) cluster.InstanceType {
	has := quantity.Resources{CPU: cores * 1000, Memory: quantity.Bytes(cores) << 32, Pods: 50}
	return cluster.InstanceType{Name: name,
		Labels:   constraint.NewLabels(map[string]string{cluster.LabelInstanceType: name}),
		Capacity: has, Allocatable: has,
		Offerings: []cluster.Offering{
			{Zone: "a", Option: cluster.OnDemand, Price: price, Priced: true, Available: true}}}
}

// Whatever is unavailable, not ready, deleted or changed since nodes were launched: no bound is above what the nodes
// and instances of pools cost.
func TestNoBoundIsAboveWhatThereIs(t *testing.T) {
	known := 0
	for seed := range uint64(300) {
		s := world(rand.New(rand.NewPCG(seed, 1)))
		cost := 0.0
		for i := range s.Nodes {
			if pool, has := s.Pool(s.Nodes[i].Pool); has {
				cost += pool.CostOf(&s.Nodes[i]).Dollars()
			}
		}
		for i := range s.Instances {
			if pool, has := s.Pool(s.Instances[i].Pool); has {
				price, _ := pool.PriceOf(&s.Instances[i])
				cost += (price + pool.PerInstance()).Dollars()
			}
		}
		least := floor.Cluster(s)
		if least > cost+1e-9 {
			t.Errorf("seed %d: the bound is $%g, and what there is costs $%g", seed, least, cost)
		}
		if least > 0 {
			known++
		}
	}
	if known < 100 {
		t.Errorf("%d bounds of 300 are known: the worlds show little", known)
	}
}

// world is pools, some without what their nodes were launched from, and nodes and instances that are full or less.
func world(r *rand.Rand) *cluster.Snapshot {
	s := &cluster.Snapshot{}
	var launched []cluster.InstanceType
	for i := range 2 + r.IntN(4) {
		cores := quantity.MilliCPU(1) << r.IntN(4)
		price := quantity.MicroUSDPerHour(int(cores) * (20_000 + r.IntN(40_000)))
		launched = append(launched, instanceType(fmt.Sprint("t", i), cores, price))
	}
	for i := range 1 + r.IntN(3) {
		pool := poolOf(fmt.Sprint("p", i))
		pool.InstanceCost = quantity.MicroUSDPerHour(r.IntN(5_000))
		for _, x := range launched {
			if r.IntN(4) == 0 {
				continue // its class does not offer it any more
			}
			x.Offerings = slices.Clone(x.Offerings)
			x.Offerings[0].Available = r.IntN(2) == 0
			if r.IntN(30) == 0 {
				x.Offerings[0].Option = cluster.Reserved
			}
			pool.Catalogue.InstanceTypes = append(pool.Catalogue.InstanceTypes, x)
		}
		if r.IntN(3) == 0 {
			pool.NotReady = "its class is not ready"
		}
		if r.IntN(6) == 0 {
			pool.Catalogue = nil
		}
		s.Pools = append(s.Pools, pool)
	}
	pods := func(x *cluster.InstanceType) (out []cluster.Pod) {
		for free := x.Allocatable; r.IntN(8) > 0; {
			wants := quantity.Resources{CPU: free.CPU / quantity.MilliCPU(1+r.IntN(3)),
				Memory: free.Memory / quantity.Bytes(1+r.IntN(9)), Pods: 1}
			out = append(out, cluster.Pod{Returns: r.IntN(5) > 0, Shape: &cluster.Shape{Requests: wants}})
			free = free.Sub(wants)
		}
		return out
	}
	for range r.IntN(9) {
		x, id := &launched[r.IntN(len(launched))], poolOf(fmt.Sprint("p", r.IntN(4))).ID // the last one may be gone
		if r.IntN(4) == 0 {
			s.Instances = append(s.Instances, cluster.Instance{Pool: id, Labels: x.Labels, LaunchedFor: pods(x)})
			continue
		}
		s.Nodes = append(s.Nodes, cluster.Node{Pool: id, Price: x.Offerings[0].Price, Pods: pods(x)})
	}
	return s
}
