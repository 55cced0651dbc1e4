// Package floor computes the least that instances for pods can cost of which only the sum of requests is known.
//
// It promises a true lower bound: fractions of instances cover the requests, and no rule but amounts counts. It finds
// no instances: core/provisioning does.
package floor

import (
	"fmt"
	"math"
	"slices"

	"github.com/daemok/daemok/core/bound"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/feasibility"
	"github.com/daemok/daemok/core/quantity"
)

// Column is a way to launch an instance.
type Column struct {
	Free  quantity.Resources // for pods, once daemon pods have theirs
	Zone  string
	Price float64 // of the instance and what else is paid for each, in millionths of a dollar an hour
}

// Columns lists every different thing that pools may launch now, at its least price, in the order of pools and their
// options.
func Columns(pools []cluster.Pool, daemons []cluster.Daemon) []Column {
	return columnsOf(pools, feasibility.ForPools(pools, daemons), false)
}

// columnsOf is Columns; with unavailable, what has a price and may be launched at another time is among them.
func columnsOf(pools []cluster.Pool, of []*feasibility.Pool, unavailable bool) []Column {
	var out []Column
	known := map[string]int{}
	for i, pool := range of {
		beside := float64(pools[i].PerInstance())
		for _, o := range pool.Options {
			offering := pool.Offering(o)
			if !offering.Priced || !offering.Available && !unavailable {
				continue
			}
			free := pool.Kinds[o.Kind].Free.ClampNegative()
			key := fmt.Sprint(free.CPU, free.Memory, free.Pods, free.Extended, offering.Zone)
			at, found := known[key]
			if !found {
				at = len(out)
				known[key] = at
				out = append(out, Column{free, offering.Zone, math.Inf(1)})
			}
			out[at].Price = min(out[at].Price, float64(offering.Price)+beside)
		}
	}
	return out
}

// Floor is what instances of some pools cost at least. It is not safe for concurrent use.
type Floor struct {
	columns []Column
	known   map[string][2]float64
}

// New makes the floor of pools without nodes, to each of whose instances daemon pods come.
func New(pools []cluster.Pool, daemons []cluster.Daemon) *Floor {
	return &Floor{Columns(pools, daemons), map[string][2]float64{}}
}

// DollarsPerHour is less than what any instances cost that hold pods which request so much together; mixed is what they
// cost at least if the pods of each request cpu, memory and so on in the ratio of all together: then one instance type is
// the cheapest for all, and what it has beside what runs out first costs the same and holds nothing. kube-scheduler, which
// does not know which pods suit which type, comes near that. Ephemeral storage does not count, nor does what no pool
// offers.
func (f *Floor) DollarsPerHour(requests quantity.Resources) (least, mixed float64) {
	key := requests.String()
	cost, found := f.known[key]
	if !found {
		rows := f.rows(requests)
		cost = [2]float64{f.least(rows) / 1e6, f.ofOneType(rows) / 1e6}
		f.known[key] = cost
	}
	return cost[0], cost[1]
}

// row asks for so much of one resource.
type row struct {
	resource string
	demand   float64
}

// rows are the resources that are requested, and that some column has.
func (f *Floor) rows(requests quantity.Resources) (out []row) {
	for _, name := range requests.Names() {
		demand := requests.Get(name)
		if demand <= 0 || name == quantity.NameEphemeralStorage {
			continue
		}
		if slices.ContainsFunc(f.columns, func(x Column) bool { return x.Free.Get(name) > 0 }) {
			out = append(out, row{name, float64(demand)})
		}
	}
	return out
}

func (f *Floor) least(rows []row) float64 {
	demand, columns := make([]float64, len(rows)), make([]bound.Column, len(f.columns))
	for i, r := range rows {
		demand[i] = r.demand
	}
	for j, x := range f.columns {
		columns[j] = bound.Column{Price: x.Price, Has: make([]float64, len(rows))}
		for i, r := range rows {
			columns[j].Has[i] = float64(x.Free.Get(r.resource))
		}
	}
	return bound.Cover(demand, columns).Cost
}

// ofOneType is the cost with instances of one type alone, in fractions.
func (f *Floor) ofOneType(rows []row) float64 {
	cheapest := math.Inf(1)
	for _, x := range f.columns {
		instances := 0.0
		for _, r := range rows {
			instances = max(instances, r.demand/float64(x.Free.Get(r.resource)))
		}
		cheapest = min(cheapest, instances*x.Price)
	}
	return cheapest
}
