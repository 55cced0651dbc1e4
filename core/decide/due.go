package decide

import (
	"iter"
	"time"

	"github.com/daemok/daemok/core/cluster"
)

// changesByClock are the moments at which what users forbid ends by itself: a freeze, and the protection of a pod,
// also of one that keeps a node from going which is to go; those at which pods are held no longer; those at which
// capacity of requests is kept no longer, or sought again; and those from which on pods that may not be evicted
// need other places too. Zero times are among them, and past ones.
func changesByClock(s *cluster.Snapshot) iter.Seq[time.Time] {
	return func(yield func(time.Time) bool) {
		if !yield(s.FreezeUntil) {
			return
		}
		for i := range s.Requested {
			if r := &s.Requested[i]; !yield(r.BookedUntil) || !yield(r.RetryAt) {
				return
			}
		}
		for i := range s.Nodes {
			n := &s.Nodes[i]
			if n.Deleting && !yield(n.EvictBy()) {
				return
			}
			for j := range n.Pods {
				p := &n.Pods[j]
				if !yield(p.ProtectedUntil) || n.Deleting && p.Returns && !p.Moves() && !yield(n.UprootsAt()) {
					return
				}
			}
		}
	}
}
