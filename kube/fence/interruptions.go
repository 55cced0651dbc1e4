package fence

import (
	"context"

	"github.com/daemok/daemok/cloud"
)

// InterruptionMessages acknowledges nothing once the lease may end before the call does: what
// is not acknowledged comes to the next leader. Waiting is free.
type InterruptionMessages struct {
	Inner cloud.InterruptionMessages
	Fence *Fence
}

var _ cloud.InterruptionMessages = InterruptionMessages{}

// Next waits, with or without a lease.
func (n InterruptionMessages) Next(ctx context.Context) ([]cloud.InterruptionMessage, error) {
	return n.Inner.Next(ctx)
}

// Done acknowledges only while the lease holds.
func (n InterruptionMessages) Done(ctx context.Context, interruptionMessages ...cloud.InterruptionMessage) error {
	return n.Fence.Do(ctx, func(ctx context.Context) error { return n.Inner.Done(ctx, interruptionMessages...) })
}
