package place

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/scheduling"
	"github.com/daemok/daemok/core/supply"
)

// FinishIn writes the answer down, with reasons as in another snapshot.
func (r *Run) FinishIn(s *cluster.Snapshot) Result {
	was := r.snapshot
	defer func() { r.snapshot = was }()
	r.snapshot = s
	return r.Finish()
}

// Finish writes the answer down.
func (r *Run) Finish() Result {
	r.joining.joinUp()
	var kept []plan.Launch
	for i, l := range r.Provisioner.Launches {
		if len(l.Pods) > 0 {
			kept = append(kept, *l)
			r.out.Cost += r.Provisioner.Launched[i].Cost
			r.out.Risk += r.Provisioner.Launched[i].Risk
			r.out.Unpriced += r.Provisioner.Launched[i].Unpriced
			r.out.SpotMore += r.Provisioner.Launched[i].Candidate.SpotMore(r.Provisioner.Launched[i].Options)
		}
	}
	r.out.Launches, r.out.EvenHosts, r.out.Choices = kept, r.Provisioner.MayEven, r.scheduler.Choices.Choices
	r.out.Risky = !r.options.LeastInterrupted && slices.ContainsFunc(r.Candidates, func(b *supply.Candidate) bool { return b.Risky })
	slices.SortFunc(r.Placed, func(a, b scheduling.Placed) int { return cmp.Compare(a.Turn, b.Turn) })
	if len(r.Placed) > 0 {
		r.out.Placements = make([]plan.Placement, 0, len(r.Placed))
	}
	for _, x := range r.Placed {
		r.out.Placements = append(r.out.Placements, plan.Placement{Pod: *x.Pod, On: x.On, Target: x.Name})
	}
	r.out.Unplaced = r.diagnosis.unplaced()
	if r.Asked == nil {
		r.out.Short = r.short()
		if !r.options.Unproven {
			r.proof.prove()
		}
	}
	r.out.Steps, r.out.Exhausted = r.Effort.Steps, r.Effort.Exhausted
	return r.out
}

// short reports whether pods are left for which a pool has offerings that its limits only forbid because instances were
// launched from it.
func (r *Run) short() bool {
	for _, b := range r.Candidates {
		if b.Remaining != nil && b.Remaining.Used() && slices.ContainsFunc(r.Waiting, func(g *demand.Group) bool {
			return g.Left() > 0 && b.HeldBack(g.PodClass.Required().Wants, g.Need)
		}) {
			return true
		}
	}
	return false
}

// readyFor returns what was prepared, where that is for this snapshot.
func (o *Options) readyFor(s *cluster.Snapshot) *supply.Ready {
	if o.Ready != nil && o.Ready.Knows(s) {
		return o.Ready
	}
	return supply.Prepare(s)
}
