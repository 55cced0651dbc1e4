package snapshot

import (
	"context"
	"errors"
	"fmt"
	"slices"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/kube/pages"
	"github.com/daemok/daemok/kube/snapshot/pools"
)

// Overlays are the NodeOverlays of a cluster state.
type Overlays struct{ of *ClusterState }

// Used reports whether NodeOverlays have an effect, by the settings.
func (o *Overlays) Used() bool { return !o.of.settings.NoOverlays }

// Follow has the cluster state take in NodeOverlays, as FollowLate does.
func (o *Overlays) Follow(ctx context.Context, live client.Reader, informers cache.Informers) error {
	return FollowLate(ctx, o.of, live, informers, &v1alpha1.NodeOverlay{}, "nodeoverlays.karpenter.sh")
}

// FollowLate has the cluster state take in objects of a type once they can be listed: a watch of what is not
// served, or may not be read, would keep all others waiting. Until then there are none. It is called until it
// returns no error. name is that of the type's CustomResourceDefinition.
func FollowLate(ctx context.Context, k *ClusterState, live client.Reader, informers cache.Informers,
	of client.Object, name string) error {
	r := k.rowOf(of)
	err := live.List(ctx, r.newList(), client.Limit(1))
	switch {
	case pages.NotServed(err):
		return fmt.Errorf("%w: %s are not served, so they have no effect: install the CustomResourceDefinition: %w",
			ErrNotServed, name, err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s may not be listed, so they have no effect: grant the verbs list and watch: %w", name, err)
	case err != nil:
		return fmt.Errorf("list %s, which have no effect until this works: %w", name, err)
	}
	return r.follow(ctx, k, informers)
}

// ErrNotServed is that the API server does not know a type.
var ErrNotServed = errors.New("not installed")

// arePartial reports whether some that there were when they began to be followed are yet to be taken in. The caller
// holds the lock.
func (o *Overlays) arePartial() bool {
	return slices.ContainsFunc(o.of.followed, func(f followed) bool {
		_, is := f.object.(*v1alpha1.NodeOverlay)
		return is && !f.synced()
	})
}

// List lists the NodeOverlays with what they came to when the last snapshot was made, by name.
func (o *Overlays) List() []pools.Overlay {
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	return o.of.tables.pools.Overlays()
}

// Has reports whether there is a NodeOverlay of that name.
func (o *Overlays) Has(name string) bool {
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	return o.of.tables.pools.HasOverlay(name)
}

// Overlaid is what NodeOverlays make of what a class offers, for the nodes of a pool. It waits until all that there
// were at the start are known, or ctx ends. Where they have changed since the last snapshot, it costs as much as one.
func (o *Overlays) Overlaid(ctx context.Context, pool cluster.PoolID, c *cluster.Catalogue) *cluster.Catalogue {
	o.of.WaitForFirst(ctx, &v1alpha1.NodeOverlay{})
	o.of.mu.Lock()
	stale := o.of.tables.pools.Stale()
	o.of.mu.Unlock()
	if stale {
		o.of.Snapshot()
	}
	o.of.mu.Lock()
	defer o.of.mu.Unlock()
	return o.of.tables.pools.Overlaid(pool, c)
}
