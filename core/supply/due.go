package supply

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/topology"
)

// Due is daemon pods that others look at and that an instance will have, or may
// have when it is decided what it is.
type Due struct {
	sure, perhaps []*topology.Rules
}

// DueAt asks of each daemon pod that others look at whether an instance may have it, and will.
func (v *Valuation) DueAt(brings func(*cluster.Shape) (may, sure bool)) Due {
	var out Due
	for shape, rules := range v.Daemons {
		switch may, sure := brings(shape); {
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
