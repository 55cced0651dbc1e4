package bench

import (
	"math"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// Floor is LowerBound for pods of which only the sum is known, on instances that pools may launch.
type Floor struct {
	cover *cover
	known map[[resources]int64][2]float64
}

// NewFloor makes a floor for pools without nodes, to each of which daemon pods come.
func NewFloor(pools []cluster.Pool, daemons []cluster.Daemon) *Floor {
	return &Floor{cover: newCover(&cluster.Snapshot{Pools: pools, Daemons: daemons}), known: map[[resources]int64][2]float64{}}
}

// DollarsPerHour is less than what any instances cost that hold pods which request so much together; mixed is what they
// cost at least if the pods of each request cpu, memory and so on in the ratio of all together: then one instance type is
// the cheapest for all, and what it has beside what runs out first costs the same and holds nothing. kube-scheduler, which
// does not know which pods suit which type, comes near that.
func (f *Floor) DollarsPerHour(requests quantity.Resources) (least, mixed float64) {
	amounts := amountsOf(requests)
	cost, found := f.known[amounts]
	if !found {
		for i, n := range amounts {
			f.cover.rows[i].demand = float64(n)
		}
		cost = [2]float64{f.cover.cost(), f.cover.ofOneType()}
		f.known[amounts] = cost
	}
	return cost[0], cost[1]
}

// ofOneType is the cost in dollars with instances of one type alone, in fractions.
func (c *cover) ofOneType() float64 {
	cheapest := math.Inf(1)
	for _, x := range c.columns {
		instances := 0.0
		for _, r := range c.rows {
			if r.demand > 0 {
				instances = max(instances, r.demand/r.has(x))
			}
		}
		cheapest = min(cheapest, instances*x.price)
	}
	return cheapest / 1e6
}
