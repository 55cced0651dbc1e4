package fence

import (
	"context"

	"github.com/daemok/daemok/cloud"
)

// Notices acknowledges nothing once the lease may end before the call does: what
// is not acknowledged comes to the next leader. Waiting is free.
type Notices struct {
	Inner cloud.Notices
	Fence *Fence
}

var _ cloud.Notices = Notices{}

// Next waits, with or without a lease.
func (n Notices) Next(ctx context.Context) ([]cloud.Notice, error) { return n.Inner.Next(ctx) }

// Done acknowledges only while the lease holds.
func (n Notices) Done(ctx context.Context, notices ...cloud.Notice) error {
	return n.Fence.Do(ctx, func(ctx context.Context) error { return n.Inner.Done(ctx, notices...) })
}
