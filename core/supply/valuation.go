package supply

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/topology"
)

// Valuation is what holds for all pools of one answer.
type Valuation struct {
	Worth            []float64                          // of one unit of each resource; nil: not found yet
	LimitCost        float64                            // see place.Options.LimitCost
	LeastInterrupted bool                               // see place.Options.LeastInterrupted
	Daemons          map[*cluster.Shape]*topology.Rules // daemon pods that rules of other pods look at
	Counted          bool                               // some rule looks at other pods
	Labels           []string                           // of nodes and instances that rules about other pods look at
	Host             *topology.Host                     // of an instance that is not launched yet, for Bears
}

// Due is the daemon pods, of those that rules of other pods look at, that an instance will have, and those that it
// may have.
type Due struct {
	sure, perhaps []*topology.Rules
}

// Bringer is an instance that may have daemon pods, and surely has some.
type Bringer interface {
	Brings(*cluster.Shape) (may, sure bool)
}

// DueAt returns the daemon pods that are due at the instance.
func (v *Valuation) DueAt(on Bringer) Due {
	var out Due
	for shape, rules := range v.Daemons {
		switch may, sure := on.Brings(shape); {
		case sure:
			out.sure = append(out.sure, rules)
		case may:
			out.perhaps = append(out.perhaps, rules)
		}
	}
	return out
}

// Put counts these daemon pods on the board.
func (d Due) Put(board *topology.Board, place int) {
	for _, rules := range d.sure {
		board.Put(rules, place, 1, false)
	}
	for _, rules := range d.perhaps {
		board.PutPerhaps(rules, place, 1)
	}
}
