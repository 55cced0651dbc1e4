package place

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/supply"
)

// readyFor returns what was prepared, where that is for this snapshot.
func (o *Options) readyFor(s *cluster.Snapshot) *supply.Ready {
	if o.Ready != nil && o.Ready.Knows(s) {
		return o.Ready
	}
	return supply.Prepare(s)
}
