package decide

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/place"
)

// smallMore is what a plan without large instances may cost more than one with them, as a share. Source: daemok simulate
// with half a day of services-b, of which plain rules save a tenth by it.
const smallMore = 0.03

// inSmall is the plan without instances that are large for the cluster, of which more is idle once the number of pods
// changes, as long as it leaves no more pods and costs hardly more.
func inSmall(s *cluster.Snapshot, options place.Options, effort Effort) choice {
	if !place.Sizes(s) {
		return sought(s, options, effort)
	}
	options.Small = true
	small := sought(s, options, effort)
	if len(small.result.Unplaced) == 0 && !small.result.Exhausted && small.cost() <= float64((1+smallMore)*float64(small.result.Bound)) {
		return small
	}
	options.Small = false
	usual := sought(s, options, effort)
	steps := small.result.Steps + usual.result.Steps
	if !small.result.Exhausted && compareLeft(&small.result, &usual.result) <= 0 && small.result.Unpriced <= usual.result.Unpriced &&
		small.cost() <= float64((1+smallMore)*usual.cost()) {
		usual = small
	}
	usual.result.Steps = steps
	return usual
}
