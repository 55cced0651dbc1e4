package decide

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/pack"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/provisioning"
)

// toFewer is what each instance is to cost more, as a share of what one costs in the mean, while
// fewer are sought: little at first.
var toFewer = [...]float64{0.02, 0.06, 0.15, 0.4, 1}

// Fewer returns the cheapest answer that was found with fewer instances than the plan launches and
// as many pods placed; nil where there is none, or no effort for instances that are chosen
// together, or where something is launched that waiting pods do not decide: nodes of static pools, and capacity for
// pods that may come. It takes as long as several decisions.
func Fewer(s *cluster.Snapshot, policy Policy, effort Effort, p *plan.Plan) *plan.Summary {
	if effort.Pack <= 0 || len(p.Launches) < 2 || p.Exhausted ||
		slices.ContainsFunc(p.Launches, func(l plan.Launch) bool { return l.Static || len(l.Virtual) > 0 }) {
		return nil
	}
	options, _, _ := policy.options(s, effort)
	best := fewerThan(p, place.Place(s, options))
	mean := float64(p.LaunchCost()) / float64(len(p.Launches))
	for _, share := range toFewer {
		options.Packer = moreExpensive{pack.New(effort.Pack, place.Pods(s)), float64(mean * share)}
		found := fewerThan(p, place.Place(s, options))
		if found == nil {
			continue
		}
		if best == nil || found.Cost < best.Cost {
			best = found
		}
		break // what weighs instances more costs more
	}
	return best
}

// moreExpensive chooses as its packer would if each instance cost so much more.
type moreExpensive struct {
	packer provisioning.Packer
	each   float64
}

func (x moreExpensive) Pack(b pack.Batch) []pack.Instance {
	b.Offerings = slices.Clone(b.Offerings)
	for i := range b.Offerings {
		b.Offerings[i].Cost += x.each
	}
	return x.packer.Pack(b)
}

// fewerThan sums up an answer that has fewer instances than the plan, no more of an unknown price,
// and leaves no more pods; nil for others.
func fewerThan(p *plan.Plan, r place.Result) *plan.Summary {
	other := plan.Plan{Launches: r.Launches, Unplaced: r.Unplaced}
	if len(other.Launches) >= len(p.Launches) || unpriced(&other) > unpriced(p) || r.Exhausted || other.PodsUnplaced() > p.PodsUnplaced() {
		return nil
	}
	return &plan.Summary{Instances: len(other.Launches), Cost: other.LaunchCost()}
}

// unpriced is how many instances of a plan have no known price.
func unpriced(p *plan.Plan) int {
	n := 0
	for i := range p.Launches {
		if !p.Launches[i].Choice.Priced {
			n++
		}
	}
	return n
}
