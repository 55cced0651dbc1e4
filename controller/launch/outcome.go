package launch

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/offering"
	"github.com/daemok/daemok/core/overlay"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// recordMax is the longest error text in the record, in bytes.
const recordMax = 1000

// publisher reports something to the users of an object.
type publisher interface{ Publish(observe.Event) }

// outcomes writes what became of a launch on a claim.
type outcomes interface {
	Launched(ctx context.Context, c *karpv1.NodeClaim, m cloud.Instance) error
	NotToBeHad(ctx context.Context, c *karpv1.NodeClaim, why error) error // the claim goes; a new plan follows
	Failed(ctx context.Context, c *karpv1.NodeClaim, why error) error     // said in its condition; tried again
	TooLate(ctx context.Context, c *karpv1.NodeClaim) error               // the claim goes: it has had its time
	Withdrawn(ctx context.Context, c *karpv1.NodeClaim) error             // the claim goes: none needs it any more
	Short(claims []*karpv1.NodeClaim, why error)                          // said on their pool; something else is tried
	Few(c *karpv1.NodeClaim, types []string)                              // said on its pool: no more types may take the place of spot
}

// Outcomes writes what became of launches on claims.
type Outcomes struct {
	Store    client.Client
	Classes  classes
	Catalog  cloud.Catalog
	Overlays overlays // nil: there are none
	Events   publisher
	Metrics  *observe.Metrics
	Log      *slog.Logger
	Record   record // nil: nothing is recorded
	Now      func() time.Time
}

func (o *Outcomes) recorder() recorder { return recorder{o.Record} }

// Launched writes the instance on the claim: first labels and annotations, the decision among them
// where something else was launched than was decided, then the status with its provider ID, which
// makes the launch known for good.
func (o *Outcomes) Launched(ctx context.Context, c *karpv1.NodeClaim, m cloud.Instance) error {
	class, err := o.Classes.Known(ctx, translate.ClassOf(c))
	if err != nil {
		return err
	}
	catalogue, err := o.Catalog.Kinds(ctx, class.Cloud)
	if err != nil {
		return fmt.Errorf("list what class %s offers: %w", class.Cloud.ID, err)
	}
	if o.Overlays != nil {
		catalogue = o.Overlays.Overlaid(ctx, translate.PoolOf(c), catalogue)
	}
	kind, offering, known := offering.Of(catalogue, m.Identity())
	if !known {
		return fmt.Errorf("instance %s of claim %s is a %s, which the catalogue does not have", m.ID, c.Name, m.Kind)
	}
	before := c.DeepCopy()
	c.Labels = translate.LaunchLabels(c, m.Identity(), m.ZoneID, kind, offering)
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	for key, value := range class.Annotations {
		if _, marked := c.Annotations[key]; !marked { // with the attempt
			c.Annotations[key] = value
		}
	}
	translate.RecordOverlays(c.Annotations, overlay.ChangesOf(catalogue, m.Identity()))
	delete(c.Annotations, api.AnnotationWithdrawn) // too late for that
	var other instead
	if text := c.Annotations[api.AnnotationDecision]; text != "" {
		c.Annotations[api.AnnotationDecision], other = decided(text, m, offering, catalogue)
	}
	if err := o.Store.Patch(ctx, c, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("write labels of instance %s to claim %s: %w", m.ID, c.Name, err)
	}
	o.reportInstead(c, m, other)
	before = c.DeepCopy()
	c.Status.ProviderID, c.Status.ImageID = m.ProviderID, m.Image
	allocatable, capacity := kind.Ordered(translate.Resources(c.Spec.Resources.Requests))
	c.Status.Capacity, c.Status.Allocatable = translate.ResourceList(capacity), translate.ResourceList(allocatable)
	condition.SetTrue(c, karpv1.ClaimLaunched, o.Now())
	condition.Begin(c, o.Now())
	if err := o.Store.Status().Patch(ctx, c, client.MergeFrom(before)); err != nil {
		return fmt.Errorf("write instance %s to claim %s: %w", m.ID, c.Name, err)
	}
	if o.Record != nil {
		o.Record.Has(c.Name, m.ID, fmt.Sprintf("%s in %s, %s", m.Kind, m.Zone, m.Option))
	}
	said := []any{"claim", c.Name, "pool", translate.PoolCalled(c.Labels), "instance", m.ID, "type", m.Kind, "zone", m.Zone, "capacityType", string(m.Option)}
	if offering.Priced {
		said = append(said, "priceUSDPerHour", offering.Price.Dollars())
	}
	o.Log.Info("launched nodeclaim", said...)
	return nil
}

// reportInstead reports what was launched in place of what was decided, once the claim says it: the claim
// that is written again later does not show the difference any more.
func (o *Outcomes) reportInstead(c *karpv1.NodeClaim, m cloud.Instance, other instead) {
	if other.of == "" {
		return
	}
	o.Log.Info("launched another instance than was decided", "claim", c.Name, "pool", translate.PoolCalled(c.Labels), "instance", m.ID,
		"type", m.Kind, "zone", m.Zone, "capacityType", string(m.Option), "insteadOf", other.of, "because", other.why)
	o.recorder().became(c, fmt.Sprintf("was launched as %s in %s, %s, not as %s", m.Kind, m.Zone, m.Option, other.of), other.why)
}

// NotToBeHad deletes a claim for which nothing can be launched, so that a new
// plan can look elsewhere at once.
func (o *Outcomes) NotToBeHad(ctx context.Context, c *karpv1.NodeClaim, why error) error {
	reason, label := reasonShort, "insufficient_capacity"
	var notReady *translate.NotReadyError
	if errors.As(why, &notReady) {
		reason, label = reasonNotReady, "nodeclass_not_ready"
	}
	o.Events.Publish(observe.Event{About: c, Key: "NodeClaim/" + c.Name, Warning: true, Reason: reason,
		Message: fmt.Sprintf("NodeClaim %s: %v", c.Name, why)})
	o.short(c, why)
	o.recorder().gaveUp(c, cloud.Cause(why, recordMax))
	if err := o.Store.Delete(ctx, c, client.Preconditions{UID: &c.UID}); err != nil {
		return fmt.Errorf("delete claim %s, for which no instance could be launched: %w", c.Name, err)
	}
	countDisrupted(o.Metrics, c, label)
	return nil
}

// How a claim that waited too long for its instance is reported.
const (
	labelTooLate  = "launch_timeout"
	reasonTooLate = "LaunchTimeout"
)

var tooLate = fmt.Sprintf("no instance could be launched within %v; see condition %s for the cause", launchFor, karpv1.ClaimLaunched)

// TooLate deletes a claim that no instance could be launched for in time.
func (o *Outcomes) TooLate(ctx context.Context, c *karpv1.NodeClaim) error {
	o.Events.Publish(observe.Event{About: c, Key: "NodeClaim/" + c.Name, Warning: true, Reason: reasonTooLate, Message: tooLate})
	o.Log.Warn("gave up a nodeclaim", "claim", c.Name, "pool", translate.PoolCalled(c.Labels), "reason", reasonTooLate, "message", tooLate)
	o.recorder().gaveUp(c, tooLate)
	if err := o.Store.Delete(ctx, c, client.Preconditions{UID: &c.UID}); err != nil {
		return fmt.Errorf("delete claim %s, which got no instance in time: %w", c.Name, err)
	}
	countDisrupted(o.Metrics, c, labelTooLate)
	return nil
}

// labelWithdrawn is how a claim that none needs any more is counted.
const labelWithdrawn = "withdrawn"

// Withdrawn deletes a claim that none needs and that has no instance.
func (o *Outcomes) Withdrawn(ctx context.Context, c *karpv1.NodeClaim) error {
	if err := o.Store.Delete(ctx, c, client.Preconditions{UID: &c.UID}); err != nil {
		return fmt.Errorf("delete claim %s, which was withdrawn: %w", c.Name, err)
	}
	o.Log.Info("deleted a withdrawn nodeclaim", "claim", c.Name, "pool", translate.PoolCalled(c.Labels), "reason", c.Annotations[api.AnnotationWithdrawn])
	countDisrupted(o.Metrics, c, labelWithdrawn)
	return nil
}

// shortFor is how long a pool's users do not get another report of a shortage, or of what may become one.
const shortFor = 10 * time.Minute

// Short reports to the users of the pool of these claims, which are alike, that instances for them are short;
// anything else it keeps to itself.
func (o *Outcomes) Short(claims []*karpv1.NodeClaim, why error) {
	if short, isShort := errors.AsType[*cloud.NoCapacityError](why); isShort {
		o.recorder().unlaunched(claims, reasonShort, short.Error())
		o.short(claims[0], why)
	}
}

func (o *Outcomes) short(c *karpv1.NodeClaim, why error) {
	if short, isShort := errors.AsType[*cloud.NoCapacityError](why); isShort {
		o.warnPool(c, reasonShort, "shortage", fmt.Sprintf("NodeClaim %s: %v; what else the pool allows is tried", c.Name, short))
	}
}

// Few reports to them that on-demand instances take the place of spot ones, and are of few types.
func (o *Outcomes) Few(c *karpv1.NodeClaim, types []string) {
	o.warnPool(c, "FewInstanceTypes", "few types", fmt.Sprintf("NodeClaim %s allows spot and is launched on demand, with no more types than %s: allow at least %d, or a shortage of these leaves its pods pending",
		c.Name, strings.Join(types, ", "), offering.FallbackTypes))
}

// warnPool reports something to the users of the claim's pool, and not again for a while about
// the same topic.
func (o *Outcomes) warnPool(c *karpv1.NodeClaim, reason, topic, message string) {
	pool := translate.PoolOf(c)
	if pool.Name == "" {
		return
	}
	about := translate.PoolRef(pool)
	for _, owner := range c.OwnerReferences {
		if owner.Kind == pool.Kind && owner.Name == pool.Name {
			about.UID = owner.UID
		}
	}
	o.Events.Publish(observe.Event{About: about, Key: pool.String(), Warning: true, Reason: reason, Message: message, Topic: topic, DedupeFor: shortFor})
}

// inItsWords is the cause in the names of the fields of the claim's class.
func (o *Outcomes) inItsWords(ctx context.Context, c *karpv1.NodeClaim, why error, bytesMax int) string {
	text := cloud.Cause(why, bytesMax)
	class, err := o.Classes.Known(ctx, translate.ClassOf(c))
	if err != nil || class.InWords == nil {
		return text // it is gone, or another provider's
	}
	return class.InWords(text)
}

// Failed writes the obstacle in the claim's condition; the launch is tried
// again.
func (o *Outcomes) Failed(ctx context.Context, c *karpv1.NodeClaim, why error) error {
	reason := karpv1.ReasonLaunchFailed
	if refused, ok := errors.AsType[*cloud.RefusedError](why); ok {
		reason = refused.Reason
	} else if _, ok := errors.AsType[*cloud.ThrottledError](why); ok {
		reason = karpv1.ReasonRequestLimitExceeded
	} else if _, ok := errors.AsType[*cloud.InternalError](why); ok {
		reason = karpv1.ReasonInternalError
	} else if _, ok := errors.AsType[*translate.NotReadyError](why); ok {
		reason = reasonNotReady
	}
	text := o.inItsWords(ctx, c, why, condition.MessageMax)
	o.recorder().unlaunched([]*karpv1.NodeClaim{c}, reason, o.inItsWords(ctx, c, why, recordMax))
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
	m.Disrupted(observe.Disruption{Reason: reason, Pool: translate.PoolCalled(c.Labels), Option: c.Labels[api.LabelCapacityType], Mode: translate.TerminationMode(c), Node: c.Status.NodeName})
}
