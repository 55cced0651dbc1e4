package claim

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// messageMax is the longest error text kept in a condition, in bytes.
const messageMax = 300

// publisher tells the users of an object something.
type publisher interface{ Publish(observe.Event) }

// Outcomes writes what became of purchases on claims.
type Outcomes struct {
	Store   client.Client
	Classes classes
	Catalog cloud.Catalog
	Events  publisher
	Metrics *observe.Metrics
	Now     func() time.Time
}

// Bought writes the machine on the claim: first labels and annotations, then
// the status with its provider ID, which makes the purchase known for good.
func (o *Outcomes) Bought(ctx context.Context, c *karpv1.NodeClaim, m cloud.Machine) error {
	class, err := o.Classes.Known(ctx, c.Spec.NodeClassRef)
	if err != nil {
		return err
	}
	catalogue, err := o.Catalog.Kinds(ctx, class.Cloud)
	if err != nil {
		return fmt.Errorf("list what class %s offers: %w", class.Cloud.ID, err)
	}
	kind, offer, known := kindOf(catalogue, m)
	if !known {
		return fmt.Errorf("machine %s of claim %s is a %s, which the catalogue does not have", m.ID, c.Name, m.Kind)
	}
	before := c.DeepCopy()
	c.Labels = launchLabels(c, m, kind, offer)
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	maps.Copy(c.Annotations, class.Annotations)
	if err := o.Store.Patch(ctx, c, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("write labels of machine %s on claim %s: %w", m.ID, c.Name, err)
	}
	before = c.DeepCopy()
	c.Status.ProviderID, c.Status.ImageID = m.ProviderID, m.Image
	c.Status.Capacity = translate.ResourceList(kind.Capacity)
	c.Status.Allocatable = translate.ResourceList(kind.Allocatable)
	condition.SetTrue(c, karpv1.ClaimLaunched, o.Now())
	condition.Begin(c, o.Now())
	if err := o.Store.Status().Patch(ctx, c, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("write machine %s on claim %s: %w", m.ID, c.Name, err)
	}
	return nil
}

// launchLabels are the claim's own labels and, under keys it does not have,
// what is known of the machine; requirements with one possible value on the
// pool's own keys become labels too.
func launchLabels(c *karpv1.NodeClaim, m cloud.Machine, kind cluster.Kind, offer cluster.Offer) map[string]string {
	labels := kind.Labels.Merge(offer.Labels).Map()
	labels[api.LabelInstanceType] = m.Kind
	labels[api.LabelZone] = m.Zone
	labels[api.LabelCapacityType] = string(m.Option)
	if m.ZoneID != "" {
		labels[api.LabelZoneID] = m.ZoneID
	}
	if requirements, err := translate.Requirements(c.Spec.Requirements); err == nil {
		maps.Copy(labels, singleValues(requirements))
	}
	maps.Copy(labels, c.Labels)
	return labels
}

func singleValues(requirements constraint.Requirements) map[string]string {
	out := map[string]string{}
	for _, r := range requirements {
		if values, finite := r.Set.Finite(); finite && len(values) == 1 && !api.IsWellKnown(r.Key) {
			out[r.Key] = values[0]
		}
	}
	return out
}

// NotToBeHad deletes a claim for which nothing can be bought, so that a new
// plan can look elsewhere at once.
func (o *Outcomes) NotToBeHad(ctx context.Context, c *karpv1.NodeClaim, why error) error {
	reason, label := "InsufficientCapacityError", "insufficient_capacity"
	var notReady *NotReadyError
	if errors.As(why, &notReady) {
		reason, label = "NodeClassNotReady", "nodeclass_not_ready"
	}
	o.Events.Publish(observe.Event{About: c, Key: "NodeClaim/" + c.Name, Warning: true, Reason: reason,
		Message: fmt.Sprintf("NodeClaim %s: %v", c.Name, why)})
	if err := o.Store.Delete(ctx, c, client.Preconditions{UID: ptr(c.UID)}); err != nil {
		return fmt.Errorf("delete claim %s, for which there is no machine: %w", c.Name, err)
	}
	countDisrupted(o.Metrics, c, label)
	return nil
}

// Failed writes the obstacle in the claim's condition; the purchase is tried
// again.
func (o *Outcomes) Failed(ctx context.Context, c *karpv1.NodeClaim, why error) error {
	reason := karpv1.ReasonLaunchFailed
	var refused *cloud.RefusedError
	if errors.As(why, &refused) {
		reason = refused.Reason
	}
	text := why.Error()
	if len(text) > messageMax {
		text = text[:messageMax]
	}
	before := c.DeepCopy()
	if !condition.SetUnknown(c, karpv1.ClaimLaunched, reason, text, o.Now()) {
		return nil
	}
	condition.Begin(c, o.Now())
	o.Events.Publish(observe.Event{About: c, Key: "NodeClaim/" + c.Name, Warning: true, Reason: reason, Message: text})
	if err := o.Store.Status().Patch(ctx, c, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("write launch failure on claim %s: %w", c.Name, err)
	}
	return nil
}

func countDisrupted(m *observe.Metrics, c *karpv1.NodeClaim, reason string) {
	m.ClaimsDisrupted.WithLabelValues(reason, c.Labels[api.LabelNodePool], c.Labels[api.LabelCapacityType], "", terminationMode(c)).Inc()
}

func terminationMode(c *karpv1.NodeClaim) string {
	grace, set := c.Spec.TerminationGracePeriod.Value()
	switch {
	case !set:
		return "graceful"
	case grace <= 0:
		return "forceful"
	}
	return "eventual"
}

func ptr(uid types.UID) *types.UID { return &uid }
