package supply

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/topology"
)

// Valuation is what holds for all pools of one answer.
type Valuation struct {
	Worth            []float64                          // of one unit of each resource; nil: not found yet
	Valued           int                                // how often that was found
	LimitCost        float64                            // see Options.LimitCost
	LeastInterrupted bool                               // see Options.LeastInterrupted
	Daemons          map[*cluster.Shape]*topology.Rules // daemon pods that rules of other pods look at
	Counted          bool                               // some rule looks at other pods
	Labels           []string                           // of places that rules about other pods look at
	Host             *topology.Host                     // of an instance that is not there yet, for asking
}
