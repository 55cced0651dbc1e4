package decide

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/place"
)

// expensiveLimits is how many times what the instances of a plan cost all counts that limits leave,
// in turn, where pods are left: others may do that take less of it.
var expensiveLimits = [...]float64{1, 8}

// withLessOfLimits seeks, where limits leave some pods without a place, a choice that takes less of
// them. Before much is spent on it instances that are chosen one after another must show that there
// is one.
func withLessOfLimits(s *cluster.Snapshot, options place.Options, effort Effort, best choice) choice {
	cost := best.result.Cost
	for _, times := range expensiveLimits {
		if !best.result.Short || best.result.Exhausted {
			break
		}
		options.LimitCost = float64(times * cost)
		quick := place.Place(s, options)
		best.result.Steps += quick.Steps
		if compareLeft(&quick, &best.result) < 0 {
			best = best.or(chosen(s, options, effort))
		}
	}
	return best
}
