package bench_test

import (
	"testing"

	"github.com/daemok/daemok/bench"
)

// TestClustersComeToRest: what is measured is a cluster in which nothing is left
// to do, and one that is as cheap again after half of its pods have gone; every
// step leaves nodes that hold their pods, which Retire checks for itself.
func TestClustersComeToRest(t *testing.T) {
	for seed := range uint64(3) {
		o := bench.DisruptionOptions{Nodes: 30, PodsPerNode: 20, Pools: 2, Scenario: "steady", Seed: seed, Runs: 1}
		steady, err := bench.Disruption(o)
		if err != nil {
			t.Fatal(err)
		}
		if steady.Commands != 0 || steady.CostAfter != steady.CostBefore || steady.Candidates != steady.Nodes {
			t.Errorf("seed %d: nodes of a steady cluster go, or are not told of: %+v", seed, steady)
		}
		o.Scenario = "half"
		half, err := bench.Disruption(o)
		if err != nil {
			t.Fatal(err)
		}
		if half.Commands == 0 || half.Gap == nil || *half.Gap < 0 || half.CostAfter >= half.CostBefore {
			t.Errorf("seed %d: half of the pods went, and it came to %+v", seed, half)
		}
	}
}
