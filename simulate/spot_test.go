package simulate_test

import (
	"math"
	"strings"
	"testing"

	"github.com/daemok/daemok/simulate"
	"github.com/daemok/daemok/simulate/spot"
)

// onePod is a workload of half a core for ten hours, for which an instance of one core is launched at 0.3 dollars an hour.
func onePod(t *testing.T, capacity string, market spot.Options, policies ...string) simulate.Options {
	path := files(t, map[string]string{".csv": jobColumns + "pod,500,1000,0,36000\n"}) + ".csv"
	return simulate.Options{Budget: "10%", Seed: 1, Capacity: capacity, Spot: market, Source: simulate.Source{Pods: path, To: 36000}, Policies: policies}
}

// Its spot instance is interrupted about every twenty minutes, and each time another one comes. Daemok lets the pod run until that has
// started; other autoscalers evict it at once.
func TestInterruptedSpotInstancesAreReplaced(t *testing.T) {
	o := onePod(t, "spot", spot.Options{InterruptionsPerHour: 3}, "ours", "untouched", "karpenter", "cluster-autoscaler")
	o.To = 3 * 3600
	got, err := simulate.Run(o)
	if err != nil {
		t.Fatal(err)
	}
	for name, c := range got.Policies {
		if c.Interruptions < 3 || c.Interruptions > 25 || c.Launched != c.Interruptions+1 || c.Evictions > 0 {
			t.Errorf("%s: %d interruptions, %d launched, %d evictions; want about 9, one launched for each and none evicted for money", name, c.Interruptions, c.Launched, c.Evictions)
		}
		if c.PendingP99Seconds > 110 {
			t.Errorf("%s: a pod waits %g s", name, c.PendingP99Seconds)
		}
	}
	if ours, other := got.Policies["ours"].PendingP50Seconds, got.Policies["karpenter"].PendingP50Seconds; ours > 10 || other < 20 {
		t.Errorf("half of the pods wait %g s at most, and %g s under karpenter; want hardly any, and the time of a boot", ours, other)
	}
	again, err := simulate.Run(o)
	if err != nil || again.Policies["ours"].CostDollars != got.Policies["ours"].CostDollars || again.Policies["ours"].Interruptions != got.Policies["ours"].Interruptions {
		t.Errorf("the same again comes to %+v, %v", again.Policies["ours"], err)
	}
}

// What happens to spot instances changes nothing of a run on demand.
func TestOnDemandInstancesKnowNoSpotMarket(t *testing.T) {
	var dollars []float64
	for _, market := range []spot.Options{{}, {InterruptionsPerHour: 1, Prices: spot.Moving}} {
		got, err := simulate.Run(onePod(t, "on-demand", market, "ours"))
		if err != nil || got.Policies["ours"].Interruptions > 0 {
			t.Fatalf("%d interruptions, %v", got.Policies["ours"].Interruptions, err)
		}
		dollars = append(dollars, got.Policies["ours"].CostDollars, got.BoundDollars)
	}
	if dollars[0] != dollars[2] || dollars[1] != dollars[3] {
		t.Errorf("cost and bound are %v; want the same with a spot market and without", dollars)
	}
}

// The instance is charged the price of each moment, and the bound is taken at the same prices: at each moment an instance costs
// more than the fraction that the pod needs of the cheapest.
func TestMovingPricesMoveTheBound(t *testing.T) {
	cost := map[string]float64{}
	for _, prices := range []string{spot.Fixed, spot.Moving} {
		got, err := simulate.Run(onePod(t, "spot", spot.Options{Prices: prices}, "untouched"))
		if err != nil {
			t.Fatal(err)
		}
		c, at, bound := got.Policies["untouched"].Course, 0, map[float64]bool{}
		for _, m := range c[5:] {
			for at+1 < len(got.Bound) && got.Bound[at+1].At <= m.At {
				at++
			}
			if bound[got.Bound[at].DollarsPerHour] = true; m.DollarsPerHour < got.Bound[at].DollarsPerHour {
				t.Errorf("%s: after %s instances cost $%g an hour, and the bound is $%g", prices, m.At, m.DollarsPerHour, got.Bound[at].DollarsPerHour)
			}
		}
		if moves := len(bound) > 5; moves != (prices == spot.Moving) {
			t.Errorf("%s: the bound has %d values", prices, len(bound))
		}
		cost[prices] = got.Policies["untouched"].CostDollars
	}
	if math.Abs(cost[spot.Moving]/cost[spot.Fixed]-1) < 0.01 {
		t.Errorf("it costs $%g at fixed prices and $%g at moving ones; want another cost", cost[spot.Fixed], cost[spot.Moving])
	}
}

// Pods of 20 cores leave after an hour, and 20 types cost less than the instance that is left for a small one. Karpenter replaces
// a spot node by a spot node only with its feature gate.
func TestKarpenterReplacesSpotBySpotIfAsked(t *testing.T) {
	path := files(t, map[string]string{".csv": jobColumns + "pod,20000,1000,0,3600\npod,900,1000,0,90000\n"}) + ".csv"
	got, err := simulate.Run(simulate.Options{Budget: "100%", Seed: 1, Capacity: "spot", Source: simulate.Source{Pods: path, To: 2 * 3600}, Policies: []string{"karpenter", "karpenter-spot-to-spot"}})
	if err != nil {
		t.Fatal(err)
	}
	plain, gated := got.Policies["karpenter"], got.Policies["karpenter-spot-to-spot"]
	if plain.Evictions != 0 || gated.Evictions == 0 || gated.CostDollars > plain.CostDollars*0.9 {
		t.Errorf("%d evictions for $%.2f, and %d for $%.2f with the gate; want none, and some that save", plain.Evictions, plain.CostDollars, gated.Evictions, gated.CostDollars)
	}
}

// Nodes of the first pool's class cannot be of the type that the second pool launches, whose price moves all the same.
func TestPricesOfAllClassesMove(t *testing.T) {
	offered := `"pods": 20, "offerings": [{"zone": "us-east-1a", "capacityType": "spot", "price": 0.1}]}`
	prefix := files(t, map[string]string{".csv": jobColumns + "pod,500,1000,0,36000\n",
		".json": `[{"name": "a1.large", "arch": "arm64", "cpuMilli": 2000, "memMi": 4096, ` + offered + `, {"name": "m6g.large", "arch": "arm64", "cpuMilli": 2000, "memMi": 8192, ` + offered + `]`})
	pools := strings.Replace(poolText("a", instanceType, "m6g.large", ""), "name: default}", "name: first}", 1) + poolText("b", instanceType, "a1.large", "  weight: 10\n") +
		class("first", "") + strings.Replace(class("default", ""), "al2023", "bottlerocket", 1)
	got, err := simulate.Run(simulate.Options{Catalog: prefix + ".json", Manifests: manifests(t, pools), Spot: spot.Options{Prices: spot.Moving}, Source: simulate.Source{Pods: prefix + ".csv", To: 36000},
		Policies: []string{"untouched"}})
	if err != nil {
		t.Fatal(err)
	}
	if c := got.Policies["untouched"].CostDollars; c < 0.5 || c > 1.5 || got.BoundDollars < 0.1 {
		t.Errorf("it costs $%g, and the bound is $%g; want about ten hours of $0.1, and a quarter of that", c, got.BoundDollars)
	}
}
