package decide

import (
	"cmp"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
)

// strategy is a way to seek a plan. Strategies are tried in the order of the table; each starts from the options of the
// best plan so far.
type strategy struct {
	name string
	// tried reports whether the strategy could find another plan than the best so far, which is nil for the first.
	tried func(s *cluster.Snapshot, best *choice) bool
	// set changes the options.
	set func(o *place.Options, best *choice)
	// probe says that a quick plan, with instances chosen one after another, must leave fewer pods before more is tried.
	probe bool
	// saves is the share of its own cost by which the plan must be cheaper than the best so far to take its place.
	saves float64
}

// smallMore is what a plan without large instances may cost more than one with them, as a share. Source: daemok simulate
// with half a day of services-b, of which plain rules save a tenth by it.
const smallMore = 0.03

// strategies says what each strategy is for, and what it saves. A strategy that saves less than one per cent on every
// measured workload has no row: docs/adr/0020-strategies-earn-their-place.md has the figures, also of deleted ones.
var strategies = [...]strategy{{
	// More of a large instance is idle once the number of pods changes.
	name:  "small instances",
	tried: func(s *cluster.Snapshot, _ *choice) bool { return place.Sizes(s) },
	set:   func(o *place.Options, _ *choice) { o.Small = true },
}, {
	name:  "instances of any size",
	tried: func(_ *cluster.Snapshot, best *choice) bool { return best == nil || !best.nearBound() },
	set:   func(o *place.Options, _ *choice) { o.Small = false },
	saves: smallMore,
}, {
	// Hosts of a spread are filled as evenly as kube-scheduler fills them, instead of one pod each.
	name:  "hosts filled evenly",
	tried: func(_ *cluster.Snapshot, best *choice) bool { return best.result.EvenHosts && !best.result.Exhausted },
	set:   func(o *place.Options, _ *choice) { o.EvenHosts = true },
}, {
	// Where limits leave pods without a place, instances that take less of the limits may have more of them.
	name:  "less of limits",
	tried: short,
	set:   func(o *place.Options, best *choice) { o.LimitCost = best.result.Cost },
	probe: true,
}, {
	name:  "far less of limits",
	tried: short,
	set:   func(o *place.Options, best *choice) { o.LimitCost = float64(8 * cmp.Or(o.LimitCost, best.result.Cost)) },
	probe: true,
}}

// short reports whether limits leave pods without a place.
func short(_ *cluster.Snapshot, best *choice) bool {
	return best.result.Short && !best.result.Exhausted
}

// sought returns the likely cheapest plan that any strategy finds.
func sought(s *cluster.Snapshot, options place.Options, effort Effort) choice {
	var best *choice
	for _, how := range strategies {
		if !how.tried(s, best) {
			continue
		}
		o := options
		if best != nil {
			o = best.options
		}
		how.set(&o, best)
		if how.probe && !best.probed(s, o) {
			continue
		}
		found := chosen(s, o, effort)
		if best != nil {
			found = best.or(found, how.saves)
		}
		best = &found
	}
	return *best
}

// choice is a plan with the options of its search and, as far as the effort goes, what it is likely to cost.
type choice struct {
	options place.Options
	result  place.Result
	likely  *plan.Likely
}

// chosen is the plan that one strategy finds.
func chosen(s *cluster.Snapshot, options place.Options, effort Effort) choice {
	relaxed, leans := tightest(s, options, effort)
	if effort.Simulation <= 0 || effort.Pack <= 0 || !several(&relaxed) {
		return choice{options: options, result: relaxed}
	}
	best, likely := likeliest(s, options, effort, relaxed, leans)
	return choice{options, best, likely}
}

// probed reports whether a quick plan with these options leaves fewer pods.
func (c *choice) probed(s *cluster.Snapshot, o place.Options) bool {
	quick := place.Place(s, o)
	c.result.Steps += quick.Steps
	return compareLeft(&quick, &c.result) < 0
}

// or returns the other plan if it leaves fewer pods, or as many and costs less by more than the share. A plan whose
// search came to its end is better than one whose steps were used up before.
func (c choice) or(other choice, saves float64) choice {
	steps := c.result.Steps + other.result.Steps
	better := cmp.Or(
		cmp.Compare(demand.Rank(!other.result.Exhausted), demand.Rank(!c.result.Exhausted)),
		compareLeft(&other.result, &c.result),
		cmp.Compare(other.result.Unpriced, c.result.Unpriced),
		cmp.Compare(float64((1+saves)*other.cost()), c.cost())) < 0
	if better {
		c = other
	}
	c.result.Steps = steps
	return c
}

// cost is what counts when plans are compared: the cost of the launches, and of those that are likely to follow.
func (c *choice) cost() float64 {
	if c.likely == nil {
		return c.result.Cost
	}
	return c.result.Cost + float64(c.likely.Cost-costOf(&c.result))
}

// nearBound reports whether all pods have a place, and no plan can cost clearly less.
func (c *choice) nearBound() bool {
	return len(c.result.Unplaced) == 0 && !c.result.Exhausted && c.cost() <= float64((1+smallMore)*float64(c.result.Bound))
}
