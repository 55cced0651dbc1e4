package snapshot

import (
	"context"
	"fmt"
	"slices"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/selection"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	autoscalingv1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/kube/buffer"
	"github.com/daemok/daemok/kube/pages"
	"github.com/daemok/daemok/kube/snapshot/policies"
	"github.com/daemok/daemok/kube/translate"
)

// Read makes one snapshot of a live cluster, without watching it, for a cluster state
// that has seen nothing. It does not see pods come and go, so emptiness counts
// from what claims say of it.
func (k *ClusterState) Read(ctx context.Context, from client.Reader) (*cluster.Snapshot, error) {
	for _, r := range k.objects() {
		if r.isOf(&corev1.ConfigMap{}) || r.isOf(&v1alpha1.NodeOverlay{}) && k.settings.NoOverlays ||
			r.isOf(&v1beta1.CapacityQuota{}) && k.settings.NoQuotas {
			continue // one ConfigMap is read below
		}
		if !k.settings.PlanDevices && slices.ContainsFunc(KindsOfDevices(), r.isOf) {
			continue
		}
		requests := r.isOf(&autoscalingv1.ProvisioningRequest{})
		if requests && k.settings.NoRequests {
			continue
		}
		if r.isOf(&karpv1.NodeClaim{}) { // pools before what they made
			if err := k.readPools(ctx, from); err != nil {
				return nil, err
			}
		}
		err := r.read(ctx, from)
		if err != nil && !(r.may && (pages.NotServed(err) || apierrors.IsForbidden(err))) {
			return nil, err
		}
		if requests && err == nil {
			k.Requests.Serve()
		}
	}
	list, err := buffer.Read(ctx, from, k.now())
	if err != nil {
		return nil, err
	}
	k.Buffers.Are(list)
	if err := k.Requests.resolve(ctx, from); err != nil {
		return nil, err
	}
	if err := k.readHolds(ctx, from); err != nil {
		return nil, err
	}
	if err := k.Commitments.Read(ctx, from); err != nil && !apierrors.IsForbidden(err) {
		return nil, err
	}
	return k.Snapshot(), nil
}

// ReadNodes makes one snapshot of the nodes of some pools and of what says how
// many of them may go, for a cluster state that has seen nothing. Nodes of other pools are
// there as far as breakers count them too. No plan can be made of it: pods, and what
// concerns them, are not read.
func (k *ClusterState) ReadNodes(ctx context.Context, from client.Reader, pools ...cluster.PoolID) (*cluster.Snapshot, error) {
	if err := k.readPools(ctx, from); err != nil {
		return nil, err
	}
	if err := k.readHolds(ctx, from); err != nil {
		return nil, err
	}
	for kind, names := range countedWith(k, pools) {
		of, err := labels.NewRequirement(translate.PoolLabel(kind), selection.In, names)
		if err != nil {
			return nil, fmt.Errorf("select the nodes of pools: %w", err)
		}
		selected := client.MatchingLabelsSelector{Selector: labels.NewSelector().Add(*of)}
		for _, o := range []client.Object{&karpv1.NodeClaim{}, &corev1.Node{}} {
			if err := k.rowOf(o).read(ctx, from, selected); err != nil {
				return nil, err
			}
		}
	}
	return k.Snapshot(), nil
}

// countedWith names the pools and those that a breaker counts together with one of
// them, by their kinds.
func countedWith(k *ClusterState, pools []cluster.PoolID) map[string][]string {
	names := map[string][]string{}
	add := func(ids []cluster.PoolID) {
		for _, id := range ids {
			names[id.Kind] = append(names[id.Kind], id.Name)
		}
	}
	add(pools)
	for _, p := range k.Policies() {
		if p.Object.Spec.Breaker != nil && slices.ContainsFunc(pools, func(id cluster.PoolID) bool { return slices.Contains(p.Pools, id) }) {
			add(p.Pools)
		}
	}
	return names
}

func (k *ClusterState) readPools(ctx context.Context, from client.Reader) error {
	for _, g := range k.settings.Generations {
		if err := k.poolsOf(g).read(ctx, from); err != nil {
			return err
		}
	}
	return nil
}

// readHolds reads what keeps nodes from going whatever their pools say.
func (k *ClusterState) readHolds(ctx context.Context, from client.Reader) error {
	if err := k.readFreeze(ctx, from); err != nil {
		return err
	}
	list, err := policies.Read(ctx, from)
	if err != nil {
		return err
	}
	k.PoliciesAre(list)
	return nil
}

// readFreeze reads the ConfigMap past every watch.
func (k *ClusterState) readFreeze(ctx context.Context, from client.Reader) error {
	if k.settings.FreezeIn == "" {
		return nil
	}
	c, key := &corev1.ConfigMap{}, client.ObjectKey{Namespace: k.settings.FreezeIn, Name: api.ConfigMapFreeze}
	err := from.Get(ctx, key, c)
	if apierrors.IsNotFound(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("read ConfigMap %s, which may forbid to disturb nodes: %w", key, err)
	}
	k.Seen(c)
	return nil
}

// read takes in every object of the type.
func (r row) read(ctx context.Context, from client.Reader, options ...client.ListOption) error {
	return pages.EachList(ctx, from, r.newList, func(l client.ObjectList) {
		// The function returns no error, and a list of a client holds objects.
		_ = meta.EachListItem(l, func(o runtime.Object) error {
			r.seen(o.(client.Object), true)
			return nil
		})
	}, options...)
}
