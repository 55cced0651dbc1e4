package bench_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/daemok/daemok/bench"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/quantity"
)

// TestNoInstancesAreCheaperThanLoadsAllow compares the bound with the least cost there is
// where a few pods are spread over zones with prices of their own, or are apart by host:
// all ways are tried to put pods in zones, and to part them over instances. It must be
// clearly tighter than the bound that knows rules alone.
func TestNoInstancesAreCheaperThanLoadsAllow(t *testing.T) {
	const worlds = 300
	exact, more := 0, 0.0
	for seed := range uint64(worlds) {
		s := fewRuledPods(t, rand.New(rand.NewPCG(seed, 77)))
		whole, least := bench.Whole(s), leastInZones(s)
		ruled, ok := bench.Constrained(s)
		if !ok {
			ruled = bench.LowerBound(s)
		}
		if whole < ruled || whole > least*(1+1e-9) {
			t.Errorf("seed %d: %f is the bound, %f by rules alone, and %f is possible", seed, whole, ruled, least)
		}
		if whole > least*(1-1e-3) {
			exact++
		}
		more += whole/ruled - 1
	}
	t.Logf("the least itself for %d of %d; %.0f %% more than by rules alone in the mean", exact, worlds, 100*more/worlds)
	if exact < worlds/4 || more < 0.2*worlds {
		t.Errorf("the least itself for %d of %d worlds, want a quarter; %.2f times more, want a fifth", exact, worlds, more/worlds)
	}
}

var threeZones = []string{"a", "b", "c"}

// fewRuledPods is up to seven pods of up to three deployments, each of which may
// be spread over zones or apart by host, and up to four types.
func fewRuledPods(t *testing.T, r *rand.Rand) *cluster.Snapshot {
	offered := func(price float64) (out []offering) {
		for _, zone := range threeZones {
			out = append(out, offering{zone, "on-demand", price * (0.5 + r.Float64())})
		}
		return out
	}
	kinds := []kind{{"large", "amd64", 20_000, 100_000, 3 + r.IntN(6), offered(2)}}
	for i := range 1 + r.IntN(3) {
		cores := 2 + r.IntN(10)
		kinds = append(kinds, kind{fmt.Sprint("t", i), "amd64", 1000 * cores, cores * (2048 + r.IntN(6000)), 2 + r.IntN(6), offered(0.1 * float64(cores))})
	}
	var pods []pod
	for app := range 1 + r.IntN(3) {
		one := pod{100 * (1 + r.IntN(60)), 128 * (1 + r.IntN(150)), fmt.Sprint("app", app), r.IntN(2) == 0, r.IntN(3) == 0}
		for range 1 + r.IntN(4) {
			if len(pods) < 7 {
				pods = append(pods, one)
			}
		}
	}
	return small(t, kinds, pods)
}

// leastInZones is the least cost of instances for all pods, by which pods are in which
// zone.
func leastInZones(s *cluster.Snapshot) float64 {
	n := len(s.Waiting)
	byZone := make([][]float64, len(threeZones))
	for z, zone := range threeZones {
		byZone[z] = leastIn(s, zone)
	}
	ways := 1
	for range n {
		ways *= len(threeZones)
	}
	out := math.Inf(1)
	for way := range ways {
		sets := make([]int, len(threeZones))
		for i, left := 0, way; i < n; i, left = i+1, left/len(threeZones) {
			sets[left%len(threeZones)] |= 1 << i
		}
		if spreadsWell(s, sets) {
			cost := 0.0
			for z, set := range sets {
				cost += byZone[z][set]
			}
			out = min(out, cost)
		}
	}
	return out
}

// spreadsWell counts the pods of each deployment that is spread: none has two more in
// one zone than in another.
func spreadsWell(s *cluster.Snapshot, sets []int) bool {
	for i := range s.Waiting {
		if len(s.Waiting[i].Shape.Spread) == 0 {
			continue
		}
		var counts []int
		for _, set := range sets {
			n := 0
			for j := range s.Waiting {
				if set>>j&1 == 1 && s.Waiting[j].Shape == s.Waiting[i].Shape {
					n++
				}
			}
			counts = append(counts, n)
		}
		if slices.Max(counts)-slices.Min(counts) > 1 {
			return false
		}
	}
	return true
}

// leastIn is the least cost of instances of a zone, by set of pods.
func leastIn(s *cluster.Snapshot, zone string) []float64 {
	n := len(s.Waiting)
	price, least := make([]float64, 1<<n), make([]float64, 1<<n)
	pool := feasibility.ForPools(s.Pools, s.Daemons)[0]
	for set := 1; set < 1<<n; set++ {
		price[set], least[set] = math.Inf(1), math.Inf(1)
		if sum, ok := together(s, set); ok {
			for _, o := range pool.Options {
				if pool.Offering(o).Zone == zone && sum.FitsIn(pool.Kinds[o.Kind].Free) {
					price[set] = min(price[set], float64(pool.Offering(o).Price)/1e6)
				}
			}
		}
		for part := set; part > 0; part = (part - 1) & set {
			least[set] = min(least[set], price[part]+least[set&^part])
		}
	}
	return least
}

// together is what the pods need on one instance; ok is false where two of them refuse each
// other.
func together(s *cluster.Snapshot, set int) (sum quantity.Resources, ok bool) {
	var alone []*cluster.Shape
	for i := range s.Waiting {
		if set>>i&1 == 0 {
			continue
		}
		shape := s.Waiting[i].Shape
		if len(shape.Neighbours) > 0 && slices.Contains(alone, shape) {
			return sum, false
		}
		alone = append(alone, shape)
		sum = sum.Add(shape.Requests)
	}
	return sum, true
}
