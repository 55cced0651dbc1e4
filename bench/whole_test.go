package bench_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/daemok/daemok/bench"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/quantity"
)

// TestNoInstancesAreCheaperThanWholePodsAllow compares the bound with the least cost there
// is, which is found by trying all ways to part a few pods over instances. It must be
// tighter than the bound that lets pods be cut, mostly.
func TestNoInstancesAreCheaperThanWholePodsAllow(t *testing.T) {
	const worlds = 400
	better, short := 0, 0.0
	for seed := range uint64(worlds) {
		s := fewPods(t, rand.New(rand.NewPCG(seed, 31)))
		plain, whole, least := bench.LowerBound(s), bench.Whole(s), leastCost(s)
		if whole < plain || whole > least*(1+1e-9) {
			t.Errorf("seed %d: %f is the bound, %f without whole pods, and %f is possible", seed, whole, plain, least)
		}
		if whole > plain*1.001 {
			better++
		}
		short += least/whole - 1
	}
	t.Logf("more than without whole pods for %d of %d; %.0f %% below the least in the mean", better, worlds, 100*short/worlds)
	if better < worlds/2 {
		t.Errorf("more than without whole pods for %d of %d worlds, want half", better, worlds)
	}
}

// TestBoundOfPodsThatFillHalves is of ten pods that need a little more than half of an
// instance each, and of ten that need a large one.
func TestBoundOfPodsThatFillHalves(t *testing.T) {
	catalog := write(t, "catalog.json", `[{"name":"m","arch":"amd64","cpuMilli":4100,"memMi":18432,"pods":20,"offerings":[{"zone":"a","capacityType":"on-demand","price":1}]},
		{"name":"l","arch":"amd64","cpuMilli":8100,"memMi":36864,"pods":20,"offerings":[{"zone":"a","capacityType":"on-demand","price":9}]}]`)
	for cpu, want := range map[int]float64{2100: 10, 5000: 90} {
		text := ""
		for range 10 {
			text += fmt.Sprintf(`,{"cpuMilli":%d,"memMi":1024}`, cpu)
		}
		r, err := bench.Place(bench.Options{Catalog: catalog, Workload: write(t, "pods.json", "["+text[1:]+"]"), Runs: 1})
		if err != nil || math.Abs(r.BoundWholePerHour-want) > 1e-6 || r.CostPerHour != want || r.GapWhole == nil || *r.GapWhole > 1e-6 || *r.Gap < 0.5 {
			t.Errorf("%d millicores: got %+v, %v; want %g and no gap", cpu, r, err, want)
		}
	}
}

// fewPods is up to seven pods and up to four types, with numbers that leave
// much over.
func fewPods(t *testing.T, r *rand.Rand) *cluster.Snapshot {
	kinds := []kind{{"large", "amd64", 20_000, 100_000, 3 + r.IntN(6), []offering{{"a", "on-demand", 2}}}}
	for i := range 1 + r.IntN(3) {
		cores := 2 + r.IntN(10)
		price := float64(cores) * (0.06 + 0.08*r.Float64())
		kinds = append(kinds, kind{fmt.Sprint("t", i), "amd64", 1000 * cores, cores * (2048 + r.IntN(6000)), 2 + r.IntN(6), []offering{{"a", "on-demand", price}}})
	}
	var pods []pod
	for range 1 + r.IntN(7) {
		if len(pods) > 0 && r.IntN(2) == 0 {
			pods = append(pods, pods[r.IntN(len(pods))])
			continue
		}
		pods = append(pods, pod{CPUMilli: 100 * (1 + r.IntN(60)), MemMi: 128 * (1 + r.IntN(150))})
	}
	return small(t, kinds, pods)
}

// leastCost is the least cost of instances for all pods, by set of pods.
func leastCost(s *cluster.Snapshot) float64 {
	n := len(s.Waiting)
	price, least := make([]float64, 1<<n), make([]float64, 1<<n)
	pool := feasibility.ForPools(s.Pools, s.Daemons)[0]
	for set := 1; set < 1<<n; set++ {
		var sum quantity.Resources
		for i := range s.Waiting {
			if set&(1<<i) != 0 {
				sum = sum.Add(s.Waiting[i].Shape.Requests)
			}
		}
		price[set], least[set] = math.Inf(1), math.Inf(1)
		for _, o := range pool.Options {
			if sum.FitsIn(pool.Kinds[o.Kind].Free) {
				price[set] = min(price[set], float64(pool.Offering(o).Price)/1e6)
			}
		}
		for part := set; part > 0; part = (part - 1) & set {
			least[set] = min(least[set], price[part]+least[set&^part])
		}
	}
	return least[1<<n-1]
}
