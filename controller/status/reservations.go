package status

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// reservationsEvery is how soon an instance that left its reservation is seen. No call is
// made while no claim is labelled as reserved.
const reservationsEvery = time.Minute

// Reservations labels instances that have left the capacity reservation that they were launched into, because that was
// cancelled or has ended: they go on as on-demand instances and cost as much. It believes the cloud alone, and changes labels
// only where the cloud lists the instance.
type Reservations struct {
	Reporter
	Instances interface {
		List(ctx context.Context, f cloud.Filter) ([]cloud.Instance, error)
	}
}

// Round checks once, and returns when to check again.
func (r *Reservations) Round(ctx context.Context) (time.Duration, error) {
	var claims karpv1.NodeClaimList
	if err := r.Store.List(ctx, &claims, client.MatchingLabels{api.LabelCapacityType: api.CapacityTypeReserved}); err != nil {
		return reservationsEvery, fmt.Errorf("list claims with reserved instances: %w", err)
	}
	if len(claims.Items) == 0 {
		return reservationsEvery, nil
	}
	left, err := r.left(ctx)
	if err != nil {
		return reservationsEvery, err
	}
	var nodes corev1.NodeList
	if err := r.Store.List(ctx, &nodes, client.MatchingLabels{api.LabelCapacityType: api.CapacityTypeReserved}, client.UnsafeDisableDeepCopy); err != nil { // only read
		return reservationsEvery, fmt.Errorf("list reserved nodes: %w", err)
	}
	var errs []error
	for i := range claims.Items {
		if c := &claims.Items[i]; c.DeletionTimestamp == nil && left[translate.InstanceID(c.Status.ProviderID)] {
			errs = append(errs, r.demote(ctx, c.DeepCopy(), nodes.Items))
		}
	}
	return reservationsEvery, errors.Join(errs...)
}

// left tells which instances run on demand, by ID.
func (r *Reservations) left(ctx context.Context) (map[string]bool, error) {
	list, err := r.Instances.List(ctx, cloud.Filter{})
	if err != nil {
		return nil, fmt.Errorf("list instances to find those that left their reservations: %w", err)
	}
	out := map[string]bool{}
	for _, m := range list {
		if m.Option == cluster.OnDemand && (m.State == cloud.Pending || m.State == cloud.Running) {
			out[m.ID] = true
		}
	}
	return out, nil
}

// demote labels the instance as one on demand, its node first, so that after a
// crash in between the claim still says that there is something to do.
func (r *Reservations) demote(ctx context.Context, c *karpv1.NodeClaim, nodes []corev1.Node) error {
	from := c.Labels[api.LabelReservationID]
	for i := range nodes {
		if nodes[i].Spec.ProviderID != c.Status.ProviderID {
			continue
		}
		if err := r.label(ctx, nodes[i].DeepCopy()); err != nil {
			return fmt.Errorf("label node %s, whose instance left its reservation %s: %w", nodes[i].Name, from, err)
		}
	}
	if err := r.label(ctx, c); err != nil {
		return fmt.Errorf("label claim %s, whose instance left its reservation %s: %w", c.Name, from, err)
	}
	r.Log.Info("an instance has left its capacity reservation and continues as on-demand", "claim", c.Name,
		"pool", translate.PoolCalled(c.Labels), "reservation", from)
	return nil
}

// label writes the labels of an instance on demand on its claim or node.
func (r *Reservations) label(ctx context.Context, o client.Object) error {
	before := o.DeepCopyObject().(client.Object)
	labels := o.GetLabels()
	labels[api.LabelCapacityType] = api.CapacityTypeOnDemand
	for _, key := range []string{api.LabelReservationID, api.LabelReservationType, api.LabelReservationInterruptible} {
		delete(labels, key)
	}
	err := r.Store.Patch(ctx, o, client.MergeFrom(before))
	if apierrors.IsNotFound(err) {
		return nil // it has gone meanwhile
	}
	return err
}
