package decide

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/quantity"
)

// unmoved returns the plan that is sought with what interruptions are likely to cost, unless it
// spends more on demand than one that is sought without: there the risk only ranks the spot
// offerings for the same instances.
func unmoved(seek func(quiet bool) choice) choice {
	best := seek(false)
	if !best.result.Risky || best.result.Exhausted || onDemand(&best.result) == 0 {
		return best
	}
	quiet := seek(true)
	steps := best.result.Steps + quiet.result.Steps
	if !quiet.result.Exhausted && compareLeft(&quiet.result, &best.result) <= 0 && onDemand(&quiet.result) < onDemand(&best.result) {
		best = quiet
	}
	best.result.Steps = steps
	return best
}

// onDemand is what the plan spends on instances on demand.
func onDemand(r *place.Result) quantity.MicroUSDPerHour {
	sum := quantity.MicroUSDPerHour(0)
	for i := range r.Launches {
		if c := r.Launches[i].Choice; c.Option == cluster.OnDemand {
			sum += c.Cost()
		}
	}
	return sum
}
