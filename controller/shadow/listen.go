package shadow

import (
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/observe/comparison"
)

// Listener takes in the parts of plans that launch nothing and remove nothing: where pods that wait go, and which
// have no place.
type Listener struct{ World *World }

// Planned puts pods on nodes that have room, and notes those without a place.
func (l Listener) Planned(s *cluster.Snapshot, p plan.Plan, _ time.Duration) {
	w := l.World
	w.mu.Lock()
	defer w.mu.Unlock()
	w.place(p.Placements, nil)
	var list []comparison.Unplaced
	for i := range p.Unplaced {
		if u := &p.Unplaced[i]; !u.Early && !u.Declined() && len(u.Pods) > 0 {
			list = append(list, w.unplaced(u))
		}
	}
	w.Book.Leave(s.Now, list)
}

func (w *World) unplaced(u *plan.Unplaced) comparison.Unplaced {
	out := comparison.Unplaced{Example: u.Pods[0].Namespace + "/" + u.Pods[0].Name, Pods: len(u.Pods)}
	for _, p := range u.Pods {
		if _, waits := w.actual.waiting[p.UID]; !waits {
			out.Running++
		}
	}
	if len(u.Reasons) > 0 {
		out.Why = u.Reasons[0].String()
	}
	return out
}

// Sought is nothing to record: what was found is part of the next plan.
func (Listener) Sought(time.Duration) {}

// Gathered is not called: there are no NodeClaims.
func (Listener) Gathered(error) {}

// Launched is called with none.
func (Listener) Launched([]apply.Launched) {}

// Withdrawn is called with none.
func (Listener) Withdrawn([]apply.Withdrawn) {}

// Explain is nothing to record.
func (Listener) Explain(*cluster.Snapshot, plan.Plan) {}

// Replacing is not called.
func (Listener) Replacing(plan.Move, apply.Launched) {}

// Stuck is not called.
func (Listener) Stuck(plan.Move, error) {}

// Moved is not called.
func (Listener) Moved(apply.Ended) {}

// Due reports whether a node has gone since the last snapshot, so that budgets may allow another to go.
func (w *World) Due(now time.Time) bool {
	w.mu.Lock()
	defer w.mu.Unlock()
	for _, n := range w.nodes {
		if !n.endsAt.IsZero() && !now.Before(n.endsAt) {
			return true
		}
	}
	return false
}
