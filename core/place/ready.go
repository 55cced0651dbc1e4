package place

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/fit"
	"github.com/daemok/daemok/core/parallel"
)

// Ready is what Place works out of the pools, the daemons and the catalogues of a snapshot
// alone, kept for further calls in one decision. Whatever pods wait and whatever nodes
// there are: answers are the same with and without it. Safe for concurrent use.
type Ready struct {
	*fit.Ready
	aspects []parallel.Once[aspects] // by pool
}

// Prepare makes one for the snapshot and those made from it that share its pools and
// daemons. It costs nothing until somebody asks.
func Prepare(s *cluster.Snapshot) *Ready {
	return &Ready{Ready: fit.Prepare(s), aspects: make([]parallel.Once[aspects], len(s.Pools))}
}

// readyFor returns what was prepared, where that is for this snapshot.
func (o *Options) readyFor(s *cluster.Snapshot) *Ready {
	if o.Ready != nil && o.Ready.Knows(s) {
		return o.Ready
	}
	return Prepare(s)
}
