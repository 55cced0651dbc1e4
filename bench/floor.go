package bench

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// Floor is LowerBound for pods of which only the sum is known, on instances that pools may launch.
type Floor struct {
	cover *cover
	known map[[resources]int64]float64
}

// NewFloor makes a floor for pools without nodes, to each of which daemon pods come.
func NewFloor(pools []cluster.Pool, daemons []cluster.Daemon) *Floor {
	return &Floor{cover: newCover(&cluster.Snapshot{Pools: pools, Daemons: daemons}), known: map[[resources]int64]float64{}}
}

// DollarsPerHour is less than what any instances cost that hold pods which request so much together.
func (f *Floor) DollarsPerHour(requests quantity.Resources) float64 {
	amounts := amountsOf(requests)
	cost, found := f.known[amounts]
	if !found {
		for i, n := range amounts {
			f.cover.rows[i].demand = float64(n)
		}
		cost = f.cover.cost()
		f.known[amounts] = cost
	}
	return cost
}
