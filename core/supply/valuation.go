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

// Due is daemon pods that others look at and that an instance will have, or may
// have when it is decided what it is.
type Due struct {
	sure, perhaps []*topology.Rules
}

// Bringer is an instance that may have daemon pods, and surely has some.
type Bringer interface {
	Brings(*cluster.Shape) (may, sure bool)
}

// DueAt asks of each daemon pod that others look at whether the instance may have it, and will.
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

// Put counts them on the board.
func (d Due) Put(board *topology.Board, place int) {
	for _, rules := range d.sure {
		board.Put(rules, place, 1, false)
	}
	for _, rules := range d.perhaps {
		board.PutPerhaps(rules, place, 1)
	}
}
