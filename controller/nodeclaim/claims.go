package nodeclaim

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/observe"
)

// publisher reports something to the users of an object.
type publisher interface{ Publish(observe.Event) }

// IndexProviderID is the field index over nodes that the store must have.
const IndexProviderID = "spec.providerID"

// IndexInstance is the field index over claims that the store must have.
const IndexInstance = "status.providerID"

// IndexRegisteredReason is the field index over claims that the store must
// have, see RegisteredReason.
const IndexRegisteredReason = "status.conditions.registered.reason"

// RegisteredReason is the value of that index: why the claim is not registered
// yet.
func RegisteredReason(c *karpv1.NodeClaim) string {
	if r := condition.Get(c, karpv1.ClaimRegistered); r != nil {
		return r.Reason
	}
	return ""
}

// nodesOf lists the nodes with the claim's provider ID; there should be one.
func nodesOf(ctx context.Context, store client.Reader, c *karpv1.NodeClaim) ([]corev1.Node, error) {
	var list corev1.NodeList
	if err := store.List(ctx, &list, client.MatchingFields{IndexProviderID: c.Status.ProviderID}); err != nil {
		return nil, fmt.Errorf("list nodes of claim %s: %w", c.Name, err)
	}
	return list.Items, nil
}

// writeStatus writes what changed, unless the claim changed meanwhile: a
// patch replaces the whole list of conditions, those of other loops included.
func writeStatus(ctx context.Context, store client.Client, c, before *karpv1.NodeClaim) error {
	return store.Status().Patch(ctx, c, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// ageOf is how long ago the claim was made, in words.
func ageOf(c *karpv1.NodeClaim, now time.Time) float64 {
	return now.Sub(c.CreationTimestamp.Time).Round(time.Second).Seconds()
}
