package planner

import (
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/apply"
)

// All tells each of several listeners, one after another.
type All []listener

// Planned tells of a new plan.
func (a All) Planned(s *cluster.Snapshot, p plan.Plan, took time.Duration) {
	for _, l := range a {
		l.Planned(s, p, took)
	}
}

// Gathered tells whether claims know whom they wait for.
func (a All) Gathered(err error) {
	for _, l := range a {
		l.Gathered(err)
	}
}

// Launched tells of claims that were created, or could not be.
func (a All) Launched(list []apply.Launched) {
	for _, l := range a {
		l.Launched(list)
	}
}

// Withdrawn tells of orders that were taken back, or could not be.
func (a All) Withdrawn(list []apply.Withdrawn) {
	for _, l := range a {
		l.Withdrawn(list)
	}
}

// Explain tells of a plan once it is carried out.
func (a All) Explain(s *cluster.Snapshot, p plan.Plan) {
	for _, l := range a {
		l.Explain(s, p)
	}
}

// Replacing tells of a machine in place of nodes.
func (a All) Replacing(m plan.Move, ordered apply.Launched) {
	for _, l := range a {
		l.Replacing(m, ordered)
	}
}

// Stuck tells of a move that cannot go on.
func (a All) Stuck(m plan.Move, err error) {
	for _, l := range a {
		l.Stuck(m, err)
	}
}

// Moved tells how a move ended.
func (a All) Moved(e apply.Ended) {
	for _, l := range a {
		l.Moved(e)
	}
}

// Sought tells how long a search for nodes that may go took.
func (a All) Sought(took time.Duration) {
	for _, l := range a {
		l.Sought(took)
	}
}
