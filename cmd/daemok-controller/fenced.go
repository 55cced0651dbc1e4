package main

import (
	"context"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/kube/fence"
)

// fencedMachines refuses to buy or give back machines once the lease may end
// before the call does, and ends calls that take longer than the fence counts
// on.
type fencedMachines struct {
	cloud.Machines
	fence *fence.Fence
}

func (m fencedMachines) Launch(ctx context.Context, r cloud.LaunchRequest) ([]cloud.Machine, error) {
	if err := m.fence.Check(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, m.fence.CallFor)
	defer cancel()
	return m.Machines.Launch(ctx, r)
}

// Prepare is fenced as Launch is: it makes things at the cloud.
func (m fencedMachines) Prepare(ctx context.Context, r cloud.LaunchRequest) error {
	if err := m.fence.Check(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, m.fence.CallFor)
	defer cancel()
	return m.Machines.Prepare(ctx, r)
}

func (m fencedMachines) Terminate(ctx context.Context, ids ...string) ([]string, error) {
	if err := m.fence.Check(); err != nil {
		return nil, err
	}
	ctx, cancel := context.WithTimeout(ctx, m.fence.CallFor)
	defer cancel()
	return m.Machines.Terminate(ctx, ids...)
}

func (m fencedMachines) Tag(ctx context.Context, id string, tags map[string]string) error {
	if err := m.fence.Check(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, m.fence.CallFor)
	defer cancel()
	return m.Machines.Tag(ctx, id, tags)
}

// fencedFinder refuses to make or remove what belongs to classes once the
// lease may end before the call does.
type fencedFinder struct {
	provider
	fence *fence.Fence
}

func (f fencedFinder) Profile(ctx context.Context, class nodeclass.Class) (string, error) {
	if err := f.fence.Check(); err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, f.fence.CallFor)
	defer cancel()
	return f.provider.Profile(ctx, class)
}

func (f fencedFinder) Forget(ctx context.Context, class nodeclass.Class) error {
	if err := f.fence.Check(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, f.fence.CallFor)
	defer cancel()
	return f.provider.Forget(ctx, class)
}
