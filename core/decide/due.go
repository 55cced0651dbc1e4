package decide

import (
	"iter"
	"time"

	"github.com/daemok/daemok/core/cluster"
)

// changesByClock are the moments at which what users forbid ends or begins by
// itself: a freeze ends, a budget comes into force or no longer is, a pod's
// protection ends. Zero times are among them, and past ones.
func changesByClock(s *cluster.Snapshot) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		if !yield(s.FreezeUntil) {
			return
		}
		for i := range s.Pools {
			if !yield(s.Pools[i].Policy.BudgetsChange) {
				return
			}
		}
		for i := range s.Nodes {
			for j := range s.Nodes[i].Pods {
				if !yield(s.Nodes[i].Pods[j].ProtectedUntil) {
					return
				}
			}
		}
	}
}
