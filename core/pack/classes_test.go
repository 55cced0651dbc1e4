package pack_test

import (
	"math/rand/v2"
	"testing"

	"github.com/daemok/daemok/core/bitset"
	"github.com/daemok/daemok/core/bound"
	"github.com/daemok/daemok/core/pack"
)

// TestPodsThatMustBeInExpensiveZones has half of the pods be in one of four zones each, of which
// three are more expensive than the first. The instances there are to be full of pods that can be
// nowhere else: without that and without prices by zone they cost 13 and 6 % more than the bound.
func TestPodsThatMustBeInExpensiveZones(t *testing.T) {
	const seeds, pods, zones = 8, 400, 4
	moreExpensive := [zones]float64{1, 1.1, 1.25, 1.4}
	sum := 0.0
	for seed := range uint64(seeds) {
		r := rand.New(rand.NewPCG(seed, 9))
		var l pack.Batch
		var offered []bound.Offering
		for _, times := range moreExpensive {
			for _, o := range offerings(offering(1, 400, 800), offering(1.15, 400, 1600), offering(3.9, 1600, 3200), offering(4.4, 1600, 6400)) {
				o.Cost *= times
				l.Offerings = append(l.Offerings, o)
				offered = append(offered, bound.Offering{Column: bound.Column{Price: o.Cost, Has: []float64{float64(o.Free[0]), float64(o.Free[1])}}, Open: 1 << zones})
			}
		}
		demands := make([][]float64, zones+1)
		for class := range demands {
			demands[class] = make([]float64, 2)
		}
		for range pods {
			x, class := group(1, 5+r.Int64N(60), 5+r.Int64N(150)), zones
			x.Offerings = bitset.Full(len(l.Offerings))
			if r.IntN(2) == 0 {
				class, x.Offerings = r.IntN(zones), bitset.New(len(l.Offerings))
				for i := range 4 {
					x.Offerings.Add(4*class + i)
					offered[4*class+i].Open |= 1 << class
				}
			}
			for d, v := range x.Need {
				demands[class][d] += float64(v)
			}
			l.Groups = append(l.Groups, x)
		}
		got := pack.Solve(l, 3_000_000)
		if why := broken(l, got); why != "" {
			t.Fatalf("seed %d: %s", seed, why)
		}
		sum += cost(l, got)/bound.Divide(demands, offered).Cost - 1
	}
	t.Logf("%.2f %% above the bound in the mean", 100*sum/seeds)
	if sum/seeds > 0.05 {
		t.Errorf("%.2f %% above the bound in the mean, want 5 at most", 100*sum/seeds)
	}
}
