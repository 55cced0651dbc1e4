package sim_test

import (
	"flag"
	"fmt"
	"os"
	"runtime/debug"
	"testing"

	"github.com/daemok/daemok/test/sim"
)

var (
	seeds = flag.Int("seeds", 100, "how many seeds to try")
	from  = flag.Uint64("from", 0, "the first of them")
)

func TestMain(m *testing.M) {
	flag.Parse()
	debug.SetGCPercent(400) // every plan is small and forgotten at once
	os.Exit(m.Run())
}

// Whatever people want, the cloud lacks and the controller dies of: no promise
// is broken at any moment, and when all stands still there comes an end.
func TestNoSeedBreaksAPromise(t *testing.T) {
	failed, first := 0, uint64(0)
	var sum sim.Meter
	for seed := *from; seed < *from+uint64(*seeds); seed++ {
		r := sim.Run(sim.Options{Seed: seed, Decide: decided})
		sum.Add(r.Meter)
		if r.Wrong == nil {
			continue
		}
		if failed == 0 {
			first = seed
			t.Error(sim.Shrink(sim.Options{Seed: seed, Decide: decided}))
		}
		t.Errorf("seed %d: %s (%s): %s", seed, r.Wrong.At, r.Wrong.Rule, r.Wrong.What)
		failed++
	}
	t.Logf("%+v", sum)
	few := sum.Moves < 500 || sum.GivenUp < 50 || sum.Deaths < 50 || sum.Resumed == 0 || sum.Consumed < 50 ||
		sum.OnDemand < 50 || sum.Covered < 50
	if *seeds >= 100 && few || *seeds >= 2000 && sum.Alone == 0 {
		t.Errorf("the worlds show too little: %+v", sum)
	}
	if failed > 0 {
		fmt.Printf("sim: FAILED seeds=%d from=%d failed=%d first=%d\n", *seeds, *from, failed, first)
		return
	}
	fmt.Printf("sim: ok seeds=%d from=%d failed=0\n", *seeds, *from)
}

// Equal seeds give equal stories, to the byte.
func TestEqualSeedsGiveEqualStories(t *testing.T) {
	for seed := range uint64(5) {
		a, b := sim.Run(sim.Options{Seed: seed, Decide: decided}), sim.Run(sim.Options{Seed: seed, Decide: decided})
		if a.Text != b.Text {
			t.Errorf("seed %d tells two stories", seed)
		}
	}
}
