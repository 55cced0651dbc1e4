// Package place finds homes for waiting pods: on nodes that exist, on
// machines that are already ordered, and on new machines.
//
// It promises that every placement passes core/fit, that no limit of a pool is
// exceeded even within one answer, and that equal snapshots give equal
// answers. New machines are found by a greedy rule (see pick), not by an
// optimiser, and which pod kube-scheduler binds where stays its own business.
package place

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/fit"
	"github.com/daemok/daemok/core/plan"
)

// MinValues says what happens when too few values stay open for minValues.
type MinValues string

// The policies. The zero value is Strict.
const (
	Strict     MinValues = ""           // nothing is bought
	BestEffort MinValues = "BestEffort" // as many as there are will do
)

// Options is how to search.
type Options struct {
	MinValues MinValues
	Steps     int64 // most steps to take: about one for each look at one shape in one place; 0 means no bound
}

// Result is where pods go. Lists are in a fixed order: launches as opened,
// placements by pod, unplaced shapes as they were tried.
type Result struct {
	Launches   []plan.Launch
	Placements []plan.Placement
	Unplaced   []plan.Unplaced
	Steps      int64
	Exhausted  bool // the steps were used up before all was tried
}

// Place finds homes for the waiting pods of the snapshot and for those that
// must leave nodes being deleted. Pods of high priority are placed first, then
// large ones. Each goes to an existing node if it can, then to an ordered
// machine, then to a new one from the heaviest pool that can have it.
//
// Cost: shapes x (nodes + machines), and for new machines about shapes x
// kinds for each different machine; pods of one shape are placed together.
func Place(s *cluster.Snapshot, o Options) Result {
	waiting := intake(s)
	if len(waiting) == 0 {
		return Result{}
	}
	r := newRun(s, waiting, o)
	r.honourOrders()
	for _, g := range r.groups {
		r.fillSeats(g)
	}
	r.buyAll()
	for _, g := range r.groups {
		if g.left() > 0 {
			r.out.Unplaced = append(r.out.Unplaced, r.unplaced(g))
		}
	}
	slices.SortFunc(r.out.Placements, func(a, b plan.Placement) int {
		return cmp.Or(cmp.Compare(a.Pod.Namespace, b.Pod.Namespace), cmp.Compare(a.Pod.Name, b.Pod.Name))
	})
	r.out.Steps = r.steps
	return r.out
}

// run is one call of Place.
type run struct {
	options   Options
	dims      dims
	groups    []*group // in the order of placing
	seats     []*seat  // nodes, then ordered machines
	buyers    []*buyer // heaviest pool first
	worth     []float64
	repriceAt float64    // worth of what is left at which prices are sought anew
	sides     [][]*group // by resource: groups whose worth is mostly in it, see sortBySide
	steps     int64
	filler    filler            // kept for its memory
	scratch   load              // likewise
	tried     map[[2]int64]bool // likewise
	out       Result
}

func newRun(s *cluster.Snapshot, waiting []cluster.Pod, o Options) *run {
	r := &run{options: o, dims: dimsOf(waiting), groups: groupByShape(waiting), tried: map[[2]int64]bool{}}
	r.scratch.sum = make([]int64, len(r.dims))
	pools := fit.ForPools(s.Pools, s.Daemons)
	for _, g := range r.groups {
		g.need = r.dims.vector(g.shape.Requests)
	}
	r.seats = append(nodeSeats(s, r.dims), machineSeats(s, pools, r.dims)...)
	for _, p := range pools {
		r.buyers = append(r.buyers, newBuyer(p, r.dims))
	}
	slices.SortStableFunc(r.buyers, func(a, b *buyer) int { return cmp.Compare(b.Weight, a.Weight) })
	return r
}

// spent counts steps and reports whether all of them are used up.
func (r *run) spent(steps int64) bool {
	r.steps += steps
	if r.options.Steps > 0 && r.steps >= r.options.Steps {
		r.out.Exhausted = true
	}
	return r.out.Exhausted
}

func (r *run) place(pods []cluster.Pod, on plan.Destination, target string) {
	for _, p := range pods {
		r.out.Placements = append(r.out.Placements, plan.Placement{Pod: p, On: on, Target: target})
	}
}
