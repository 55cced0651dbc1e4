package place

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/topology"
)

// terms is what holds for all pools of one answer.
type terms struct {
	worth            []float64                          // of one unit of each resource; nil: not found yet
	valued           int                                // how often that was found
	limitCost        float64                            // see Options.LimitCost
	leastInterrupted bool                               // see Options.LeastInterrupted
	daemons          map[*cluster.Shape]*topology.Rules // daemon pods that rules of other pods look at
	host             *topology.Host                     // of an instance that is not there yet, for asking
}
