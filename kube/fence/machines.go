package fence

import (
	"context"

	"github.com/daemok/daemok/cloud"
)

// Machines refuses to launch, tag or terminate instances once the lease may end before the call
// does, and ends calls that take longer than the fence counts on. Reading is always allowed.
//
// It names every method rather than embed the port: one that is added there does not compile here
// until it is written here on which side it belongs.
type Machines struct {
	Inner cloud.Machines
	Fence *Fence
}

var _ cloud.Machines = Machines{}

// Launch launches only while the lease holds.
func (m Machines) Launch(ctx context.Context, r cloud.LaunchRequest) (got []cloud.Machine, err error) {
	err = m.Fence.Do(ctx, func(ctx context.Context) error { got, err = m.Inner.Launch(ctx, r); return err })
	return got, err
}

// Prepare is fenced as Launch is: it makes things at the cloud.
func (m Machines) Prepare(ctx context.Context, r cloud.LaunchRequest) error {
	return m.Fence.Do(ctx, func(ctx context.Context) error { return m.Inner.Prepare(ctx, r) })
}

// Terminate terminates instances only while the lease holds.
func (m Machines) Terminate(ctx context.Context, ids ...string) (gone []string, err error) {
	err = m.Fence.Do(ctx, func(ctx context.Context) error { gone, err = m.Inner.Terminate(ctx, ids...); return err })
	return gone, err
}

// Tag tags only while the lease holds.
func (m Machines) Tag(ctx context.Context, which cloud.Machine, tags map[string]string) error {
	return m.Fence.Do(ctx, func(ctx context.Context) error { return m.Inner.Tag(ctx, which, tags) })
}

// List reads, with or without a lease.
func (m Machines) List(ctx context.Context, f cloud.Filter) ([]cloud.Machine, error) {
	return m.Inner.List(ctx, f)
}

// Adopter refuses to take instances over once the lease may end before the call does.
type Adopter struct {
	Inner cloud.Adopter
	Fence *Fence
}

var _ cloud.Adopter = Adopter{}

// Adoptable reads, with or without a lease.
func (a Adopter) Adoptable(ctx context.Context, id string) (cloud.Machine, error) {
	return a.Inner.Adoptable(ctx, id)
}

// Adopt tags only while the lease holds.
func (a Adopter) Adopt(ctx context.Context, m cloud.Machine, class cloud.Class, tags map[string]string) error {
	return a.Fence.Do(ctx, func(ctx context.Context) error { return a.Inner.Adopt(ctx, m, class, tags) })
}
