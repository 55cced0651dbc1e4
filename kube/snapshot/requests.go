package snapshot

import (
	"context"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	v1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	"github.com/daemok/daemok/kube/provisioningrequest"
	"github.com/daemok/daemok/kube/snapshot/change"
	"github.com/daemok/daemok/kube/snapshot/requests"
)

// Requests is what a cluster state knows of ProvisioningRequests. Its methods are safe for concurrent use.
type Requests struct{ of *ClusterState }

// Used reports whether ProvisioningRequests have an effect, by the settings.
func (r Requests) Used() bool { return !r.of.settings.NoRequests }

// Follow has the cluster state take in ProvisioningRequests, as FollowLate does. From then on pods that consume
// one wait for it.
func (r Requests) Follow(ctx context.Context, live client.Reader, informers cache.Informers) error {
	const name = "provisioningrequests.autoscaling.x-k8s.io"
	if err := FollowLate(ctx, r.of, live, informers, &v1.ProvisioningRequest{}, name); err != nil {
		return err
	}
	r.Serve()
	return nil
}

// Ours reports whether a request is to be served.
func (r Requests) Ours(x *v1.ProvisioningRequest) bool {
	return provisioningrequest.Ours(x, r.of.settings.Instance)
}

// Serve has pods that consume a ProvisioningRequest wait for it.
func (r Requests) Serve() {
	r.of.apply(func() change.Effect { r.of.tables.requests.Served = true; return change.Planned })
}

// Resolved takes in what a request names. It must not be written any more.
func (r Requests) Resolved(x provisioningrequest.Resolved) {
	r.of.apply(func() change.Effect { return change.If(r.of.tables.requests.Resolved(x)) })
}

// Provisioned takes in that there is capacity for all pods of a request, before its status is seen to say so.
func (r Requests) Provisioned(name types.NamespacedName, at time.Time) {
	r.of.apply(func() change.Effect { r.of.tables.requests.Provisioned(name, at); return change.Planned })
}

// Retry has no plan seek the capacity of a request before.
func (r Requests) Retry(name types.NamespacedName, at time.Time) {
	r.of.apply(func() change.Effect { r.of.tables.requests.Retry(name, at); return change.Planned })
}

// States returns every request with its state, the oldest first.
func (r Requests) States() []requests.State {
	r.of.mu.Lock()
	defer r.of.mu.Unlock()
	return r.of.tables.requests.States()
}

// resolve reads what requests name that have been seen.
func (r Requests) resolve(ctx context.Context, from client.Reader) error {
	for _, s := range r.States() {
		if provisioningrequest.Over(s.Object) != "" {
			continue
		}
		x, err := provisioningrequest.Resolve(ctx, from, s.Object)
		if err != nil {
			return err
		}
		r.Resolved(x)
	}
	return nil
}
