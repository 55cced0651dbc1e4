package main

import (
	"context"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/cloud/aws/nodeclass"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/fence"
)

// fenced is the adapter behind the fence: whatever makes or removes something at AWS is refused
// once the lease may end before the call does.
//
// It names every method rather than embed the adapter, so that a new one does not compile here
// until it is written here on which side it belongs.
type fenced struct {
	fence.Instances
	inner provider
}

var _ provider = fenced{}

func behind(f *fence.Fence, p provider) fenced {
	return fenced{Instances: fence.Instances{Inner: p, Fence: f}, inner: p}
}

// What changes something.

func (f fenced) Profile(ctx context.Context, class nodeclass.Class) (name string, err error) {
	err = f.Fence.Do(ctx, func(ctx context.Context) error { name, err = f.inner.Profile(ctx, class); return err })
	return name, err
}

// Drop frees memory of this process alone: there is nothing to fence.
func (f fenced) Drop(classID string) { f.inner.Drop(classID) }

func (f fenced) Forget(ctx context.Context, class nodeclass.Class) error {
	return f.Fence.Do(ctx, func(ctx context.Context) error { return f.inner.Forget(ctx, class) })
}

func (f fenced) CollectProfiles(ctx context.Context, used map[string]bool) (removed []string, err error) {
	err = f.Fence.Do(ctx, func(ctx context.Context) error { removed, err = f.inner.CollectProfiles(ctx, used); return err })
	return removed, err
}

func (f fenced) RefreshTemplates(ctx context.Context) error {
	return f.Fence.Do(ctx, f.inner.RefreshTemplates)
}

// What only reads. Verify makes dry runs alone.

func (f fenced) Kinds(ctx context.Context, class cloud.Class) (*cluster.Catalogue, error) {
	return f.inner.Kinds(ctx, class)
}

func (f fenced) Subnets(ctx context.Context, class nodeclass.Class) ([]nodeclass.Subnet, error) {
	return f.inner.Subnets(ctx, class)
}

func (f fenced) Reservations(ctx context.Context, class nodeclass.Class) ([]nodeclass.Reservation, error) {
	return f.inner.Reservations(ctx, class)
}

func (f fenced) Placement(ctx context.Context, class nodeclass.Class) (*nodeclass.PlacementGroup, error) {
	return f.inner.Placement(ctx, class)
}

func (f fenced) Groups(ctx context.Context, class nodeclass.Class) ([]nodeclass.Group, error) {
	return f.inner.Groups(ctx, class)
}

func (f fenced) Images(ctx context.Context, class nodeclass.Class) ([]nodeclass.Image, error) {
	return f.inner.Images(ctx, class)
}

func (f fenced) KubernetesVersion(ctx context.Context) (string, error) {
	return f.inner.KubernetesVersion(ctx)
}

func (f fenced) Unsized(ctx context.Context, class nodeclass.Class) (nodeclass.Unsized, error) {
	return f.inner.Unsized(ctx, class)
}

func (f fenced) Crowded(ctx context.Context, class nodeclass.Class) (nodeclass.Crowded, error) {
	return f.inner.Crowded(ctx, class)
}

func (f fenced) UserDataBytes(ctx context.Context, class nodeclass.Class) (int, error) {
	return f.inner.UserDataBytes(ctx, class)
}

func (f fenced) Verify(ctx context.Context, class nodeclass.Class) error {
	return f.inner.Verify(ctx, class)
}
func (f fenced) RefreshTypes(ctx context.Context) error       { return f.inner.RefreshTypes(ctx) }
func (f fenced) RefreshOnDemand(ctx context.Context) error    { return f.inner.RefreshOnDemand(ctx) }
func (f fenced) RefreshCommitments(ctx context.Context) error { return f.inner.RefreshCommitments(ctx) }
func (f fenced) RefreshQuotas(ctx context.Context) error      { return f.inner.RefreshQuotas(ctx) }
func (f fenced) RefreshSpot(ctx context.Context) error        { return f.inner.RefreshSpot(ctx) }
