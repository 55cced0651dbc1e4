package bench

import (
	"fmt"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
)

// usable returns what new machines must have at least for the waiting pods,
// given what nodes have free, where pods name the pool they want.
//
// Proof, for each resource by itself: a node into which no waiting pod that
// may be there fits takes nothing. On the others of pool p at most min(F, D +
// x) is placed, where F is what is free there, D what pods ask for that want
// p alone, and x what of the other pods is placed there. The sum over all
// pools is largest where D is placed first and x fills the rest, and all x
// together are no more than the other pods ask for. What is left of the
// demand must be new. Ordered machines count as free for every pod.
func usable(s *cluster.Snapshot, free []quantity.Resources) quantity.Resources {
	demand := map[string]quantity.Resources{} // by the pool named; "" for none
	var all quantity.Resources
	for i := range s.Waiting {
		name := poolNamed(s.Waiting[i].Shape)
		demand[name] = demand[name].Add(s.Waiting[i].Shape.Requests)
		all = all.Add(s.Waiting[i].Shape.Requests)
	}
	room, sizes := map[string]quantity.Resources{}, sizesByPool(s)
	for i := range s.Nodes {
		pool, _ := s.Nodes[i].Labels.Get(poolLabel)
		if fitsOne(sizes[""], free[i]) || fitsOne(sizes[pool], free[i]) {
			room[pool] = room[pool].Add(free[i])
		}
	}
	var placed, spare quantity.Resources
	for i := range s.Machines {
		spare = spare.Add(s.Machines[i].Allocatable.ClampNegative())
	}
	for pool, has := range room {
		own := quantity.Resources{}
		if pool != "" {
			own = demand[pool]
		}
		placed = placed.Add(has.Min(own))
		spare = spare.Add(has.Sub(own).ClampNegative())
	}
	if len(s.Machines) > 0 {
		return all.Sub(placed).Sub(spare)
	}
	return all.Sub(placed).Sub(spare.Min(demand[""]))
}

// poolNamed returns the one pool that pods of the shape may be in, empty where
// there may be several.
func poolNamed(s *cluster.Shape) string {
	if len(s.NodeTerms) != 1 {
		return ""
	}
	values, finite := s.NodeTerms[0].Get(poolLabel).Finite()
	if !finite || len(values) != 1 || s.NodeTerms[0].Get(poolLabel).AllowsAbsent() {
		return ""
	}
	return values[0]
}

// sizesByPool lists the different requests of waiting pods by the pool named.
func sizesByPool(s *cluster.Snapshot) map[string][]quantity.Resources {
	out, known := map[string][]quantity.Resources{}, map[string]bool{}
	for i := range s.Waiting {
		shape := s.Waiting[i].Shape
		pool := poolNamed(shape)
		key := fmt.Sprint(pool, amountsOf(shape.Requests), shape.Requests.Extended)
		if !known[key] {
			known[key], out[pool] = true, append(out[pool], shape.Requests)
		}
	}
	return out
}

func fitsOne(sizes []quantity.Resources, free quantity.Resources) bool {
	for _, size := range sizes {
		if size.FitsIn(free) {
			return true
		}
	}
	return false
}
