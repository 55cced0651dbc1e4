package fence

import (
	"context"

	"github.com/daemok/daemok/cloud"
)

// Instances refuses to launch, tag or terminate instances once the lease may end before the call
// does, and ends calls that take longer than the fence counts on. Reading is always allowed.
//
// It names every method rather than embed the port: one that is added there does not compile here
// until it is written here on which side it belongs.
type Instances struct {
	Inner cloud.Instances
	Fence *Fence
}

var _ cloud.Instances = Instances{}

// Launch launches only while the lease holds.
func (m Instances) Launch(ctx context.Context, r cloud.LaunchRequest) (got []cloud.Instance, err error) {
	err = m.Fence.Do(ctx, func(ctx context.Context) error { got, err = m.Inner.Launch(ctx, r); return err })
	return got, err
}

// Prepare is fenced as Launch is: it makes things at the cloud.
func (m Instances) Prepare(ctx context.Context, r cloud.LaunchRequest) error {
	return m.Fence.Do(ctx, func(ctx context.Context) error { return m.Inner.Prepare(ctx, r) })
}

// Terminate terminates instances only while the lease holds.
func (m Instances) Terminate(ctx context.Context, ids ...string) (gone []string, err error) {
	err = m.Fence.Do(ctx, func(ctx context.Context) error { gone, err = m.Inner.Terminate(ctx, ids...); return err })
	return gone, err
}

// Tag tags only while the lease holds.
func (m Instances) Tag(ctx context.Context, which cloud.Instance, tags map[string]string) error {
	return m.Fence.Do(ctx, func(ctx context.Context) error { return m.Inner.Tag(ctx, which, tags) })
}

// List reads, with or without a lease.
func (m Instances) List(ctx context.Context, f cloud.Filter) ([]cloud.Instance, error) {
	return m.Inner.List(ctx, f)
}

// Adopter refuses to take instances over once the lease may end before the call does.
type Adopter struct {
	Inner cloud.Adopter
	Fence *Fence
}

var _ cloud.Adopter = Adopter{}

// Adoptable reads, with or without a lease.
func (a Adopter) Adoptable(ctx context.Context, id string) (cloud.Instance, error) {
	return a.Inner.Adoptable(ctx, id)
}

// Adopt tags only while the lease holds.
func (a Adopter) Adopt(ctx context.Context, m cloud.Instance, class cloud.Class, tags map[string]string) error {
	return a.Fence.Do(ctx, func(ctx context.Context) error { return a.Inner.Adopt(ctx, m, class, tags) })
}
