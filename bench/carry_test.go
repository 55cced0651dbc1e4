package bench_test

import (
	"math"
	"testing"
	"time"

	"github.com/daemok/daemok/bench"
)

var joins = bench.Joins{Earliest: 20 * time.Second, Latest: time.Minute}

// What is paid in the end is what the plan was expected to come to, in whatever order the
// instances join and whichever pods kube-scheduler binds there. Equal chances for all sizes of
// pods are the hardest to predict: there it is up to a twentieth more in the median.
func TestPlansThatAreCarriedOutComeToWhatWasForetold(t *testing.T) {
	for name, most := range map[string]float64{"realistic": 0.03, "deploy": 0.03, "uniform": 0.05} {
		t.Run(name, func(t *testing.T) {
			got, err := bench.CarrySeeds(bench.Options{Generate: name, Classes: 30, Pods: 300, Seed: 1}, joins, 3)
			if err != nil {
				t.Fatal(err)
			}
			if math.Abs(got.OverLikely) > most || math.Abs(got.OverLikelyMost) > 0.08 {
				t.Errorf("%+v\nis more than %.0f %% off in the median or 8 %% at worst", got, 100*most)
			}
		})
	}
}

func TestInstancesThatJoinBeforeTheyWereOrderedAreRefused(t *testing.T) {
	if _, err := bench.Carry(bench.Options{Generate: "uniform", Pods: 3}, bench.Joins{Earliest: 2, Latest: 1}); err == nil {
		t.Error("no error")
	}
}
