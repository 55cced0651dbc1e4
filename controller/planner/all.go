package planner

import (
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/apply"
)

// All passes everything to each of several listeners, one after another.
type All []listener

// Planned reports a new plan.
func (a All) Planned(s *cluster.Snapshot, p plan.Plan, took time.Duration) {
	for _, l := range a {
		l.Planned(s, p, took)
	}
}

// Gathered reports whether claims know which claims they wait for.
func (a All) Gathered(err error) {
	for _, l := range a {
		l.Gathered(err)
	}
}

// Launched reports claims that were created, or could not be.
func (a All) Launched(list []apply.Launched) {
	for _, l := range a {
		l.Launched(list)
	}
}

// Withdrawn reports launches that were withdrawn, or could not be.
func (a All) Withdrawn(list []apply.Withdrawn) {
	for _, l := range a {
		l.Withdrawn(list)
	}
}

// Explain reports a plan once it is carried out.
func (a All) Explain(s *cluster.Snapshot, p plan.Plan) {
	for _, l := range a {
		l.Explain(s, p)
	}
}

// Replacing reports an instance in place of nodes.
func (a All) Replacing(m plan.Move, ordered apply.Launched) {
	for _, l := range a {
		l.Replacing(m, ordered)
	}
}

// Stuck reports a move that cannot go on.
func (a All) Stuck(m plan.Move, err error) {
	for _, l := range a {
		l.Stuck(m, err)
	}
}

// Moved says how a move ended.
func (a All) Moved(e apply.Ended) {
	for _, l := range a {
		l.Moved(e)
	}
}

// Sought says how long a search for nodes that may go took.
func (a All) Sought(took time.Duration) {
	for _, l := range a {
		l.Sought(took)
	}
}
