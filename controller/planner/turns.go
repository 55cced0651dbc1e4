package planner

import (
	"cmp"
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/share"
)

// Effort is how much work one plan may be. The zero value is the usual effort.
type Effort struct {
	Part int64                                 // that its pods may take, as core/share counts it; 0: share.Effort
	Of   func(*cluster.Snapshot) decide.Effort // what may be done for a snapshot, asked right before its plan is made; nil: decide.Usual
}

func (e Effort) part() int64 { return cmp.Or(e.Part, share.Effort) }

func (e Effort) of(s *cluster.Snapshot) decide.Effort {
	if e.Of == nil {
		return decide.Usual(s)
	}
	return e.Of(s)
}

// turns is the plans that follow each other at once while pods wait that are too
// many for one.
type turns struct {
	done     map[string]bool // pods that plans of this sequence were made for, by UID, and whether they have a place on what is there
	unplaced []plan.Unplaced // those of them that found no place
}

// begun reports whether pods are left for another plan.
func (t *turns) begun() bool { return len(t.done) > 0 }

// note takes in a plan, and returns it with the pods that the plans before it in this
// sequence found no place for: they wait still.
func (t *turns) note(s *cluster.Snapshot, x drafted) plan.Plan {
	out := x.plan
	out.Unplaced = slices.Concat(stillWaiting(s, t.unplaced), out.Unplaced)
	if x.part.Rest == 0 {
		*t = turns{}
		return out
	}
	if t.done == nil {
		t.done = map[string]bool{}
	}
	for i := range x.part.Snapshot.Waiting {
		t.done[x.part.Snapshot.Waiting[i].UID] = false
	}
	for _, p := range x.plan.Placements {
		if p.On != plan.OnLaunch && p.Pod.Node == "" {
			t.done[p.Pod.UID] = true
		}
	}
	t.unplaced = out.Unplaced
	return out
}

// stillWaiting leaves out pods that wait no more.
func stillWaiting(s *cluster.Snapshot, list []plan.Unplaced) []plan.Unplaced {
	if len(list) == 0 {
		return nil
	}
	waits := make(map[string]bool, len(s.Waiting))
	for i := range s.Waiting {
		waits[s.Waiting[i].UID] = true
	}
	out := make([]plan.Unplaced, 0, len(list))
	for _, u := range list {
		u.Pods = slices.DeleteFunc(slices.Clone(u.Pods), func(p cluster.Pod) bool { return !waits[p.UID] })
		if len(u.Pods) > 0 {
			out = append(out, u)
		}
	}
	return out
}
