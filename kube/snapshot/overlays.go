package snapshot

import (
	"context"
	"errors"
	"fmt"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/kube/snapshot/pools"
)

// FollowLate has the cluster state take in objects of a type once they can be listed: a watch of what is not
// served, or may not be read, would keep all others waiting. Until then there are none. It is called until it
// returns no error. name is that of the type's CustomResourceDefinition.
func (k *ClusterState) FollowLate(ctx context.Context, live client.Reader, informers cache.Informers,
	of client.Object, name string) error {
	r := k.rowOf(of)
	err := live.List(ctx, r.newList(), client.Limit(1))
	switch {
	case isNotServed(err):
		return fmt.Errorf("%w: %s are not served, so they have no effect: install the CustomResourceDefinition: %w",
			ErrNotServed, name, err)
	case apierrors.IsForbidden(err):
		return fmt.Errorf("%s may not be listed, so they have no effect: grant the verbs list and watch: %w", name, err)
	case err != nil:
		return fmt.Errorf("list %s, which have no effect until this works: %w", name, err)
	}
	return k.follow(ctx, informers, r)
}

// ErrNotServed is that the API server does not know a type.
var ErrNotServed = errors.New("not installed")

// isNotServed reports whether the API server, or the client, does not know a type.
func isNotServed(err error) bool {
	for ; err != nil; err = errors.Unwrap(err) {
		if meta.IsNoMatchError(err) || runtime.IsNotRegisteredError(err) {
			return true
		}
	}
	return false
}

// Overlays lists the NodeOverlays with what they came to when the last snapshot was made, by name.
func (k *ClusterState) Overlays() []pools.Overlay {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tables.pools.Overlays()
}

// HasOverlay reports whether there is a NodeOverlay of that name.
func (k *ClusterState) HasOverlay(name string) bool {
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tables.pools.HasOverlay(name)
}

// Overlaid is what NodeOverlays make of what a class offers, for the nodes of a pool. It waits until all that
// there were at the start are known, or ctx ends. Where they have changed since the last snapshot, it costs as much
// as one.
func (k *ClusterState) Overlaid(ctx context.Context, pool cluster.PoolID, c *cluster.Catalogue) *cluster.Catalogue {
	k.WaitForFirst(ctx, &v1alpha1.NodeOverlay{})
	k.mu.Lock()
	stale := k.tables.pools.Stale()
	k.mu.Unlock()
	if stale {
		k.Snapshot()
	}
	k.mu.Lock()
	defer k.mu.Unlock()
	return k.tables.pools.Overlaid(pool, c)
}
