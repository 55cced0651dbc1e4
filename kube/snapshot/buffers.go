package snapshot

import (
	"github.com/daemok/daemok/kube/buffer"
	"github.com/daemok/daemok/kube/snapshot/buffers"
	"github.com/daemok/daemok/kube/snapshot/change"
)

// Buffers is what a cluster state knows of CapacityBuffers. Its methods are safe for concurrent use.
type Buffers struct{ of *ClusterState }

// Are takes in all buffers as they were resolved. They must not be written any more.
func (b Buffers) Are(list []buffer.Resolved) {
	b.of.apply(func() change.Effect { return change.If(b.of.tables.buffers.Are(list)) })
}

// Seen takes in one buffer as it was resolved. It must not be written any more.
func (b Buffers) Seen(r buffer.Resolved) {
	b.of.apply(func() change.Effect { return change.If(b.of.tables.buffers.Seen(r)) })
}

// States returns every buffer with its state, sorted by namespace and name.
func (b Buffers) States() []buffers.State {
	b.of.mu.Lock()
	defer b.of.mu.Unlock()
	return b.of.tables.buffers.States()
}
