package snapshot

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"slices"

	resourcev1 "k8s.io/api/resource/v1"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Devices is what a cluster state knows of devices of dynamic resource allocation, and of the ResourceClaims that
// request them.
type Devices struct {
	of       *ClusterState
	followed int // how many of the kinds are; of.mu protects it
}

// KindsOfDevices are the kinds that have to be known before pods with ResourceClaims are planned for.
func KindsOfDevices() []client.Object {
	return []client.Object{&resourcev1.DeviceClass{}, &resourcev1.ResourceSlice{}, &resourcev1.ResourceClaimTemplate{},
		&resourcev1.ResourceClaim{}}
}

// Planned reports whether pods with ResourceClaims are planned for, by the settings.
func (d *Devices) Planned() bool { return d.of.settings.PlanDevices }

// Follow has the cluster state take in devices and ResourceClaims, as FollowLate does. Until all that there were are
// taken in, no pod with ResourceClaims is planned for.
func (d *Devices) Follow(ctx context.Context, live client.Reader, informers cache.Informers) error {
	names := []string{"deviceclasses", "resourceslices", "resourceclaimtemplates", "resourceclaims"}
	for i, kind := range KindsOfDevices() {
		d.of.mu.Lock()
		done := i < d.followed
		d.of.mu.Unlock()
		if done {
			continue
		}
		err := FollowLate(ctx, d.of, live, informers, kind, names[i]+".resource.k8s.io")
		if errors.Is(err, ErrNotServed) {
			return fmt.Errorf("%w: the API server does not serve resource.k8s.io/v1: upgrade it to Kubernetes 1.34",
				ErrNotServed)
		}
		if err != nil {
			return err
		}
		d.of.mu.Lock()
		d.followed = i + 1
		d.of.mu.Unlock()
	}
	return nil
}

// arePartial reports whether some of what there is of devices is yet to be taken in. The caller holds the lock.
func (d *Devices) arePartial() bool {
	if !d.of.settings.AwaitDevices {
		return false
	}
	kinds := KindsOfDevices()
	if d.followed < len(kinds) {
		return true
	}
	missing := func(f followed) bool {
		is := func(k client.Object) bool { return reflect.TypeOf(k) == reflect.TypeOf(f.object) }
		return slices.ContainsFunc(kinds, is) && !f.synced()
	}
	return slices.ContainsFunc(d.of.followed, missing)
}

// Serves reports whether a driver publishes devices of the node that serve an extended resource.
func (d *Devices) Serves(node, resource string) bool {
	d.of.mu.Lock()
	defer d.of.mu.Unlock()
	return d.of.tables.devices.Serves(node, resource)
}

// Unpublished lists those of the drivers that do not publish a complete pool of devices of the node, in their order.
func (d *Devices) Unpublished(node string, drivers []string) []string {
	d.of.mu.Lock()
	defer d.of.mu.Unlock()
	return d.of.tables.devices.Unpublished(node, drivers)
}
