package decide_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/scenario"
)

// TestFlexibilityCostsNoMoreThanTheMargin: spot instances are launched for pods, and the same
// instances as if they were on demand, where none need be one of many instance types. Instance types, prices
// and pods are drawn.
func TestFlexibilityCostsNoMoreThanTheMargin(t *testing.T) {
	const margin = 2.5
	worst, sum, moreExpensive := 0.0, 0.0, 0
	const seeds = 150
	for seed := uint64(200); seed < 200+seeds; seed++ {
		free, flexible := costDrawn(t, seed, "on-demand"), costDrawn(t, seed, "spot")
		times := flexible / free
		if times > margin {
			t.Errorf("seed %d: flexible machines cost %.2f times as much", seed, times)
		}
		worst, sum = max(worst, times), sum+times
		if times > 1.001 {
			moreExpensive++
		}
	}
	t.Logf("%.3f times in the mean, %.2f at worst; more expensive in %d of %d", sum/seeds, worst, moreExpensive, seeds)
	if moreExpensive == 0 {
		t.Error("flexibility cost nothing anywhere: the test shows nothing")
	}
}

// costDrawn is what new instances cost in dollars an hour.
func costDrawn(t *testing.T, seed uint64, way string) float64 {
	t.Helper()
	r := rand.New(rand.NewPCG(seed, 9))
	var b strings.Builder
	shapes := 1 + r.IntN(3)
	for i := range shapes {
		fmt.Fprintf(&b, "shape s%d namespace=d cpu=%dm memory=%dMi\n", i, 100+r.IntN(2500), 100+r.IntN(6000))
	}
	for i := range shapes {
		fmt.Fprintf(&b, "waiting d/s%d shape=s%d count=%d\n", i, i, 1+r.IntN(20))
	}
	b.WriteString("catalogue drawn 1\n")
	for i := range 15 + r.IntN(60) {
		cpu := 1 << (1 + r.IntN(5))
		memory := cpu * (2 << r.IntN(3))
		price := (0.6 + 2*r.Float64()) * (float64(cpu)*0.009 + float64(memory)*0.001)
		fmt.Fprintf(&b, "kind k%02d cpu=%d memory=%dGi pods=60\n  offer a %s %.6f\n", i, cpu, memory, way, price)
	}
	fmt.Fprintf(&b, "pool NodePool/default catalogue=drawn\n  require karpenter.sh/capacity-type In %s\n", way)
	s, err := scenario.Parse(b.String())
	if err != nil {
		t.Fatal(err)
	}
	p := decide.Decide(s, decide.Policy{}, modest)
	if len(p.Unplaced) > 0 {
		return 1
	}
	return float64(p.CostAfter) / 1e6
}
