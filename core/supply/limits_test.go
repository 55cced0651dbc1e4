package supply

import (
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// limited is two pools with equal instance types of 2 and 8 cores. The first may have eight more cores and two more
// nodes.
func limited(quotas ...cluster.Quota) *cluster.Snapshot {
	nodes := int64(3)
	offers := func(small, large quantity.MicroUSDPerHour) *cluster.Catalogue {
		of := func(name string, price quantity.MicroUSDPerHour, cores quantity.MilliCPU) cluster.InstanceType {
			has := quantity.Resources{CPU: 1000 * cores, Memory: quantity.GiB, Pods: 9}
			return cluster.InstanceType{Name: name, Capacity: has, Allocatable: has, Offerings: []cluster.Offering{{
				Zone: "a", Option: cluster.OnDemand, Price: price, Priced: price > 0, Available: true}}}
		}
		return &cluster.Catalogue{InstanceTypes: []cluster.InstanceType{of("large", large, 8), of("small", small, 2)}}
	}
	return &cluster.Snapshot{Quotas: quotas, Pools: []cluster.Pool{
		{
			ID: cluster.PoolID{Kind: "NodePool", Name: "a"}, Catalogue: offers(100, 400),
			Used:   cluster.Used{Nodes: 1, Capacity: quantity.Resources{CPU: 4000}},
			Limits: cluster.Limits{Amounts: []quantity.Extended{{Name: quantity.NameCPU, Amount: 12000}}, Nodes: &nodes},
		},
		{ID: cluster.PoolID{Kind: "NodePool", Name: "b"}, Catalogue: offers(100, 0)},
	}}
}

const small, large = 0, 1 // options, in the order of launching

func TestLimitsLeaveWhatIsNotInUse(t *testing.T) {
	a := candidatesOf(limited())[0]
	l := a.Remaining
	if !l.allows(l.of(large)) {
		t.Errorf("12 cores less 4 in use leave %v", l.Left)
	}
	l.Use(l.Takes(small))
	if l.allows(l.of(large)) {
		t.Errorf("8 cores are allowed where %v is left", l.Left)
	}
	l.Use(l.Takes(small))
	if l.allows(l.of(small)) {
		t.Error("a fourth node is allowed where three are")
	}
	if !l.Used() {
		t.Error("two launches count for nothing")
	}
	l.GiveBack(l.Takes(small))
	l.GiveBack(l.Takes(small))
	if l.Used() || !l.allows(l.of(large)) {
		t.Errorf("once both launches are withdrawn, limits leave %v", l.Left)
	}
}

func TestWhereNothingIsLimitedThereAreNoLimits(t *testing.T) {
	s := limited()
	if b := candidatesOf(s)[1]; b.Remaining != nil {
		t.Errorf("a pool without limits has %+v", b.Remaining)
	}
	s.Pools[0].Limits = cluster.Limits{}
	if l := LimitsOf(s); l != nil {
		t.Errorf("%+v", l)
	}
}

// The share is of what limits left at first, of all that is limited together.
func TestTheShareOfLimitsDoesNotGrowWhileTheyAreUsed(t *testing.T) {
	l := candidatesOf(limited())[0].Remaining
	before := l.share(small)
	if want := 2000.0/8000 + 1.0/2; before != want {
		t.Errorf("2 of 8 cores and one of two nodes are a share of %v, want %v", before, want)
	}
	l.Use(l.Takes(small))
	if after := l.share(small); after != before {
		t.Errorf("the share is %v after a launch, and was %v", after, before)
	}
}

func TestAnInstanceIsLargerInWhatIsLimitedAlone(t *testing.T) {
	s := limited()
	s.Pools[0].Catalogue.InstanceTypes[0].Capacity.CPU = 2000
	s.Pools[0].Catalogue.InstanceTypes[0].Capacity.Memory = 64 * quantity.GiB
	if a := candidatesOf(s)[0]; !a.asModest(large, small) {
		t.Error("more memory counts, which is not limited")
	}
	if a := candidatesOf(limited())[0]; a.asModest(large, small) {
		t.Error("more cores do not count, which are limited")
	}
}

func TestPoolsShareAQuota(t *testing.T) {
	one := int64(1)
	list := candidatesOf(limited(cluster.Quota{Name: "all", Limits: cluster.Limits{Nodes: &one}}))
	a, b := list[0], list[1]
	a.Remaining.Use(a.Remaining.Takes(small))
	b.Narrow()
	if b.WithinLimits.Next(0) >= 0 || !a.Shares(b) {
		t.Error("pool b may launch a second node where the quota is for one")
	}
}

// What is not known to cost little enough is never launched.
func TestALimitOnTheCostForbidsWhatHasNoPrice(t *testing.T) {
	most := quantity.MicroUSDPerHour(1_000_000)
	quota := cluster.Quota{Name: "money", Limits: cluster.Limits{Cost: &most}}
	b := candidatesOf(limited(quota))[1]
	if !b.WithinLimits.Has(small) || b.WithinLimits.Has(large) {
		t.Errorf("within a limit on the cost are %v, want small alone", b.WithinLimits)
	}
	quota.Used.Unpriced = "stranger"
	b = candidatesOf(limited(quota))[1]
	if b.WithinLimits.Next(0) >= 0 {
		t.Error("nodes are launched beside one whose price is not known")
	}
	for range 2 { // nodes that are deleted first
		b.Remaining.GiveBack(b.Remaining.Takes(small))
	}
	if b.Narrow(); b.WithinLimits.Next(0) >= 0 || b.More(small) > 0 {
		t.Error("nodes are launched beside one whose price is not known, once others are gone")
	}
}

// What takes nothing of a limit may be launched, also where more is used than it allows.
func TestWhatIsUsedUpForbidsWhatTakesOfItAlone(t *testing.T) {
	const gpu = "nvidia.com/gpu"
	s := limited()
	s.Pools[0].Limits.Amounts = []quantity.Extended{{Name: gpu, Amount: 4}}
	s.Pools[0].Used.Capacity = quantity.Resources{}.With(gpu, 6)
	s.Pools[0].Catalogue.InstanceTypes[0].Capacity = s.Pools[0].Catalogue.InstanceTypes[0].Capacity.With(gpu, 1)
	a := candidatesOf(s)[0]
	if !a.WithinLimits.Has(small) || a.WithinLimits.Has(large) || a.More(small) != 2 || a.More(large) != 0 {
		t.Errorf("with 6 of 4 GPUs in use %v may be launched, %d small and %d large, want two small, which have none",
			a.WithinLimits, a.More(small), a.More(large))
	}
}
