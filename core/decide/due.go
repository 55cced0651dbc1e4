package decide

import (
	"iter"
	"time"

	"github.com/daemok/daemok/core/cluster"
)

// changesByClock are the moments at which what users forbid ends by itself: a
// freeze, and the protection of a pod, also of one that keeps a node from going
// which is to go; and those at which pods are held no longer. Zero times are among
// them, and past ones.
func changesByClock(s *cluster.Snapshot) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		if !yield(s.FreezeUntil) {
			return
		}
		for i := range s.Nodes {
			if n := &s.Nodes[i]; n.Deleting && !yield(n.EvictBy()) {
				return
			}
			for j := range s.Nodes[i].Pods {
				if !yield(s.Nodes[i].Pods[j].ProtectedUntil) {
					return
				}
			}
		}
	}
}
