package decide

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/pack"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/core/settle"
)

// How plans are compared by what becomes of them.
const (
	restRounds  = 6     // how often machines are bought for pods that are left
	otherEffort = 8     // the search for each further plan gets this part of the effort
	worthwhile  = 0.005 // by what share a plan must be likely to be cheaper than the tight one
)

// openings are the ways in which the machines of a plan may come: each when it
// is ready, in any order.
var openings = [...]settle.Opening{{Seed: 1}, {Seed: 2}}

// sturdier lists the further plans that are looked at.
var sturdier = [...]sturdy{
	{band: evenBand}, {band: evenBand, least: 6}, {band: evenBand, least: 24}, {band: anyBand}, {band: anyBand, least: 6},
}

// several reports whether kube-scheduler has a choice of machines.
func several(r *place.Result) bool {
	if len(r.Launches) == 0 || r.Exhausted {
		return false
	}
	for i := range r.Placements {
		if r.Placements[i].Target != r.Placements[0].Target {
			return true
		}
	}
	return false
}

// likeliest compares the plan with sturdier ones and returns the one that is
// likely to be the cheapest in the end. None leaves more pods than the first.
func likeliest(s *cluster.Snapshot, options place.Options, effort Effort, tight place.Result, leans bool) (place.Result, *plan.Likely) {
	w := settle.New(s, podsOf(tight.Placements))
	left := effort.Settle
	best, least := tight, foretellAll(s, w, options, &tight, &left)
	first, steps := least, tight.Steps
	for _, of := range others(leans) {
		if left <= 0 || first.Left == 0 {
			break
		}
		options.Packer = of(pack.Packer(effort.Pack/otherEffort, place.Pods(s)))
		other := place.Place(s, options)
		steps += other.Steps
		if other.Exhausted || other.Unpriced > tight.Unpriced || compareLeft(&other, &tight) != 0 {
			continue
		}
		if l := foretellAll(s, w, options, &other, &left); l.cost < least.cost && l.cost < float64(first.cost*(1-worthwhile)) {
			best, least = other, l
		}
	}
	best.Steps, best.Bound, best.Margins = steps+effort.Settle-left, tight.Bound, tight.Margins
	return best, &plan.Likely{
		Cost: costOf(&best) + least.Rest, Left: least.Left,
		Tight: plan.Summary{Machines: len(tight.Launches), Cost: costOf(&tight)}, TightCost: costOf(&tight) + first.Rest,
	}
}

// others are the further plans that are looked at: sturdier ones, and before
// these the one with pods seated and spread as usual, where the first leans.
func others(leans bool) []func(place.Packer) place.Packer {
	var out []func(place.Packer) place.Packer
	if leans {
		out = append(out, func(p place.Packer) place.Packer { return p })
	}
	for _, x := range sturdier {
		out = append(out, x.of)
	}
	return out
}

func costOf(r *place.Result) quantity.MicroUSDPerHour {
	return plan.Plan{Launches: r.Launches}.LaunchCost()
}

// Outcome is what becomes of a plan once kube-scheduler has put its pods where
// it likes.
type Outcome struct {
	Pods      int                      // that the plan placed
	AsPlanned int                      // of these: on a machine of the type planned for them
	Left      int                      // of these: without room at first
	Machines  int                      // that are bought for those that are left
	Rest      quantity.MicroUSDPerHour // what these cost
	Steps     int64                    // looks
	cost      float64                  // of all, in what counts when machines are compared
}

// Foretell plays the plan's machines and those that are bought for pods which
// are left then, until none is.
func Foretell(s *cluster.Snapshot, policy Policy, effort Effort, p *plan.Plan, how settle.Opening) Outcome {
	options := place.Options{MinValues: policy.MinValues, Preferences: policy.Preferences, Steps: effort.Place}
	placed := place.Result{Launches: p.Launches, Placements: p.Placements, Joining: p.Joining}
	return foretell(s, settle.New(s, podsOf(placed.Placements)), options, &placed, how)
}

// foretellAll returns the mean of all openings; of pods that are left, rounded
// up. What it takes is taken off the looks that are left.
func foretellAll(s *cluster.Snapshot, w *settle.World, options place.Options, placed *place.Result, looks *int64) Outcome {
	var sum Outcome
	for _, how := range openings {
		one := foretell(s, w, options, placed, how)
		*looks -= one.Steps
		sum.Left, sum.Rest, sum.cost = sum.Left+one.Left, sum.Rest+one.Rest, sum.cost+one.cost
	}
	n := len(openings)
	return Outcome{Left: (sum.Left + n - 1) / n, Rest: sum.Rest / quantity.MicroUSDPerHour(n), cost: sum.cost / float64(n)}
}

func podsOf(placements []plan.Placement) []cluster.Pod {
	out := make([]cluster.Pod, len(placements))
	for i := range placements {
		out[i] = placements[i].Pod
	}
	return out
}

func foretell(s *cluster.Snapshot, w *settle.World, options place.Options, placed *place.Result, how settle.Opening) Outcome {
	options.Packer = nil
	end := w.Play(placed.Launches, placed.Joining, how)
	out := Outcome{Pods: len(placed.Placements), AsPlanned: end.AsPlanned(placed.Placements), Left: len(end.Left), Steps: end.Steps, cost: placed.Cost}
	for round := 0; len(end.Left) > 0 && round < restRounds; round++ {
		after := end.After()
		more := place.Place(after, options)
		out.Steps += more.Steps
		out.Machines += len(more.Launches)
		out.Rest, out.cost = out.Rest+costOf(&more), out.cost+more.Cost
		if len(more.Launches) == 0 {
			break
		}
		end = settle.New(after, end.Left).Play(more.Launches, more.Joining, how)
		out.Steps += end.Steps
	}
	return out
}
