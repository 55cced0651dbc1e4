package snapshot

import (
	"context"

	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
)

// Quotas is what a cluster state knows of CapacityQuotas. Its methods are safe for concurrent use.
type Quotas struct{ of *ClusterState }

// Used reports whether CapacityQuotas have an effect, by the settings.
func (q Quotas) Used() bool { return !q.of.settings.NoQuotas }

// Follow has the cluster state take in CapacityQuotas, as FollowLate does.
func (q Quotas) Follow(ctx context.Context, live client.Reader, informers cache.Informers) error {
	const name = "capacityquotas.autoscaling.x-k8s.io"
	return FollowLate(ctx, q.of, live, informers, &v1beta1.CapacityQuota{}, name)
}

// Objects lists the CapacityQuotas that were seen, by name. They must not be written.
func (q Quotas) Objects() []*v1beta1.CapacityQuota {
	q.of.mu.Lock()
	defer q.of.mu.Unlock()
	return q.of.tables.quotas.Objects()
}

// Now are the CapacityQuotas as they were last seen, by name. What counts against them is not counted.
func (q Quotas) Now() []cluster.Quota {
	q.of.mu.Lock()
	defer q.of.mu.Unlock()
	return q.of.tables.quotas.List()
}
