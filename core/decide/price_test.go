package decide_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/scenario"
)

// TestInstancesCostWhatTheyCost: on random markets of steady types and types that burst, every
// instance of a plan costs its price, the volumes, what its pool declares and the credits that its
// pods use, worked out here once more; none that stays open at a lower price costs more by its
// credits; and no plan costs less than its bound.
func TestInstancesCostWhatTheyCost(t *testing.T) {
	credited := 0
	for seed := range uint64(60) {
		s := randomMarket(t, rand.New(rand.NewPCG(seed, 1)))
		p := decide.Decide(s, decide.Policy{}, decide.Usual(s))
		if p.Bound > p.LaunchCost() {
			t.Errorf("seed %d: machines cost %s, less than the bound %s\n%s", seed, p.LaunchCost(), p.Bound, p)
		}
		if p.CostAfter != p.LaunchCost() {
			t.Errorf("seed %d: the cost becomes %s, and the machines cost %s", seed, p.CostAfter, p.LaunchCost())
		}
		for i := range p.Launches {
			credited += checkCost(t, seed, s, &p.Launches[i])
		}
	}
	if credited == 0 {
		t.Error("no instance uses credits: the markets show nothing")
	}
}

// checkCost returns 1 for an instance that uses credits.
func checkCost(t *testing.T, seed uint64, s *cluster.Snapshot, l *plan.Launch) int {
	t.Helper()
	pool, _ := s.Pool(l.Pool)
	fixed := pool.InstanceCost + pool.Catalogue.Disk
	surplus := func(instanceType *cluster.InstanceType) quantity.MicroUSDPerHour {
		if instanceType.Sustained == 0 || instanceType.Sustained >= l.Requests.CPU {
			return 0
		}
		return instanceType.Surplus * quantity.MicroUSDPerHour(l.Requests.CPU-instanceType.Sustained) / 1000
	}
	used := quantity.MicroUSDPerHour(0)
	for i := range pool.Catalogue.InstanceTypes {
		instanceType := &pool.Catalogue.InstanceTypes[i]
		cost := instanceType.Offerings[0].Price + fixed + surplus(instanceType)
		if instanceType.Name == l.Choice.Kind {
			used = surplus(instanceType)
			if l.Choice.Cost() != cost {
				t.Errorf("seed %d: %s costs %s, want %s\n%s", seed, l.Choice, l.Choice.Cost(), cost, l.Decision())
			}
			continue
		}
		open := l.Requirements.Get(cluster.LabelInstanceType).Allows(instanceType.Name)
		if open && surplus(instanceType) > 0 && instanceType.Offerings[0].Price < l.Choice.Price {
			t.Errorf("seed %d: %s is open at a lower price than what is chosen, %s", seed, instanceType.Name, l.Choice)
		}
	}
	if used > 0 {
		return 1
	}
	return 0
}

// randomMarket is a pool or two without daemon pods, that offer types of a few
// shapes, and pods for them.
func randomMarket(t *testing.T, r *rand.Rand) *cluster.Snapshot {
	t.Helper()
	var b strings.Builder
	fmt.Fprintf(&b, "catalogue c 1 disk=0.00%d\n", r.IntN(10))
	steady := r.IntN(3) > 0
	for i := range 3 + r.IntN(5) {
		cores, memory := 1<<r.IntN(4), 1<<r.IntN(5)
		price := 0.02*float64(cores) + 0.004*float64(memory) + 0.01*r.Float64()
		if !steady || r.IntN(2) == 0 {
			fmt.Fprintf(&b, "kind burst%d cpu=%d memory=%dGi pods=50\n  sustained %dm surplus=0.0%d\n", i, cores, memory, 100*cores*(1+r.IntN(4)), 1+r.IntN(6))
			price *= 0.7
		} else {
			fmt.Fprintf(&b, "kind steady%d cpu=%d memory=%dGi pods=50\n", i, cores, memory)
		}
		fmt.Fprintf(&b, "  offer a on-demand %.6f\n", price)
	}
	for i := range 1 + r.IntN(4) {
		fmt.Fprintf(&b, "shape s%d namespace=default cpu=%dm memory=%dMi\n", i, 50+r.IntN(900), 64+r.IntN(900))
		fmt.Fprintf(&b, "waiting default/p%d shape=s%d count=%d\n", i, i, 1+r.IntN(9))
	}
	for i := range 1 + r.IntN(2) {
		fmt.Fprintf(&b, "pool NodePool/p%d catalogue=c machine-cost=0.0%d\n  labels karpenter.sh/nodepool=p%d\n", i, r.IntN(5), i)
	}
	s, err := scenario.Parse(b.String())
	if err != nil {
		t.Fatalf("%v\n%s", err, b.String())
	}
	return s
}
