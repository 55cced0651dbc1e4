package nodeclaim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/offering"
	"github.com/daemok/daemok/core/overlay"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// adoptAgain is how often a claim that cannot have the instance it asks for is looked at.
const adoptAgain = 30 * time.Second

// Adoptions link claims with instances that run already, as their annotation
// daemok.sh/adopt asks. What cannot be linked is said on the claim, and nothing
// is launched for it.
type Adoptions struct {
	Store    client.Client
	Cloud    cloud.Adopter // nil: of this cloud nothing can be taken over
	Classes  classes
	Catalog  cloud.Catalog
	Overlays overlays // nil: there are none
	Events   publisher
	Log      *slog.Logger
	Now      func() time.Time
}

// overlays say what NodeOverlays make of what a class offers, for a pool.
type overlays interface {
	Overlaid(ctx context.Context, pool cluster.PoolID, c *cluster.Catalogue) *cluster.Catalogue
}

// classes finds the class of a claim, whether or not it is ready.
type classes interface {
	Known(ctx context.Context, ref karpv1.NodeClassReference) (translate.LaunchClass, error)
}

// adoptee is an instance that a claim may have.
type adoptee struct {
	instance cloud.Instance
	node     *corev1.Node
	class    translate.LaunchClass
	kind     cluster.InstanceType
	offering cluster.Offering
	known    bool // the catalogue has its type
	changes  overlay.Changes
}

// link gives a claim the instance that it asks for, or says on it why not; then
// linked is false.
func (a *Adoptions) link(ctx context.Context, c *karpv1.NodeClaim) (linked bool, err error) {
	found, why, err := a.find(ctx, c)
	if err != nil {
		return false, err
	}
	if why != "" {
		return false, a.decline(ctx, c, why)
	}
	if err := a.write(ctx, c, found); err != nil {
		return false, err
	}
	return true, nil
}

// find looks at the instance that the claim asks for; why says what is against its having
// it.
func (a *Adoptions) find(ctx context.Context, c *karpv1.NodeClaim) (found adoptee, why string, err error) {
	providerID := c.Annotations[api.AnnotationAdopt]
	id := translate.InstanceID(providerID)
	switch {
	case a.Cloud == nil:
		return found, "instances of this cloud cannot be adopted", nil
	case providerID == "":
		return found, fmt.Sprintf("annotation %s is gone, and nothing is launched for a claim that had it; write it again or delete the claim", api.AnnotationAdopt), nil
	case id == "" || id == providerID:
		return found, fmt.Sprintf("annotation %s is %q, which is no provider ID; nodes have theirs in spec.providerID, such as aws:///us-east-1a/i-0123456789abcdef0",
			api.AnnotationAdopt, providerID), nil
	}
	if why, err = a.rival(ctx, c, providerID); err != nil || why != "" {
		return found, why, err
	}
	if found.node, why, err = a.nodeOf(ctx, providerID); err != nil || why != "" {
		return found, why, err
	}
	found.instance, err = a.Cloud.Adoptable(ctx, id)
	refused, isRefused := errors.AsType[*cloud.RefusedError](err)
	_, isGone := errors.AsType[*cloud.NotFoundError](err)
	switch {
	case isRefused:
		return found, refused.Cause, nil
	case isGone:
		return found, fmt.Sprintf("instance %s does not exist any more; delete the claim", id), nil
	case err != nil:
		return found, "", fmt.Errorf("describe instance %s, which claim %s is to adopt: %w", id, c.Name, err)
	case found.instance.ProviderID != providerID:
		return found, fmt.Sprintf("annotation %s is %q, and the instance's provider ID is %q", api.AnnotationAdopt,
			providerID, found.instance.ProviderID), nil
	}
	return a.ofClass(ctx, c, found)
}

// ofClass adds what the claim's class says of the instance.
func (a *Adoptions) ofClass(ctx context.Context, c *karpv1.NodeClaim, found adoptee) (adoptee, string, error) {
	var err error
	if found.class, err = a.Classes.Known(ctx, translate.ClassOf(c)); err != nil {
		return found, cloud.Cause(err, condition.MessageMax), nil
	}
	catalogue, err := a.Catalog.Kinds(ctx, found.class.Cloud)
	if err != nil {
		return found, fmt.Sprintf("what class %s offers is not known yet: %v", found.class.Cloud.ID, err), nil
	}
	if a.Overlays != nil {
		catalogue = a.Overlays.Overlaid(ctx, translate.PoolOf(c), catalogue)
	}
	found.kind, found.offering, found.known = offering.Of(catalogue, found.instance.Identity())
	found.changes = overlay.ChangesOf(catalogue, found.instance.Identity())
	return found, "", nil
}

// nodeOf is the one node of the instance. Without it nothing shows that the instance is of
// this cluster.
func (a *Adoptions) nodeOf(ctx context.Context, providerID string) (node *corev1.Node, why string, err error) {
	var list corev1.NodeList
	if err := a.Store.List(ctx, &list, client.MatchingFields{IndexProviderID: providerID}); err != nil {
		return nil, "", fmt.Errorf("list nodes of instance %s: %w", providerID, err)
	}
	switch n := len(list.Items); {
	case n == 0:
		return nil, fmt.Sprintf("no node has the provider ID %s", providerID), nil
	case n > 1:
		return nil, fmt.Sprintf("%d nodes have the provider ID %s", n, providerID), nil
	case list.Items[0].DeletionTimestamp != nil:
		return nil, fmt.Sprintf("node %s of instance %s is being deleted", list.Items[0].Name, providerID), nil
	}
	return &list.Items[0], "", nil
}

// rival says which other claim has the instance, but for one that is to yield it, or is to
// take it over as well. The cache may not show yet that another one has it, but shows all
// claims that are older, so of two that ask for one instance the younger never gets it.
func (a *Adoptions) rival(ctx context.Context, c *karpv1.NodeClaim, providerID string) (why string, err error) {
	var list karpv1.NodeClaimList
	if err := a.Store.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil { // only read
		return "", fmt.Errorf("list claims to find that of instance %s: %w", providerID, err)
	}
	for i := range list.Items {
		o := &list.Items[i]
		has, wants := o.Status.ProviderID == providerID, o.Status.ProviderID == "" && o.Annotations[api.AnnotationAdopt] == providerID
		switch {
		case o.UID == c.UID:
		case has && o.DeletionTimestamp != nil:
			return fmt.Sprintf("NodeClaim %s, which has the instance, is being deleted, and the instance is terminated with it", o.Name), nil
		case has && o.Name != c.Annotations[api.AnnotationAdoptFrom]:
			return fmt.Sprintf("NodeClaim %s has the instance; name it in annotation %s if it is to go without it, or delete this claim", o.Name, api.AnnotationAdoptFrom), nil
		case wants && o.DeletionTimestamp == nil:
			return fmt.Sprintf("NodeClaim %s is to adopt the instance too; delete one of the two", o.Name), nil
		}
	}
	return "", nil
}

// decline says on the claim why it does not have its instance.
func (a *Adoptions) decline(ctx context.Context, c *karpv1.NodeClaim, why string) error {
	before := c.DeepCopy()
	if !condition.SetUnknown(c, karpv1.ClaimLaunched, karpv1.ReasonNotAdopted, why, a.Now()) {
		return nil
	}
	condition.Begin(c, a.Now())
	if err := a.Store.Status().Patch(ctx, c,
		client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("write to claim %s why it does not adopt its instance: %w", c.Name, err)
	}
	a.Log.Warn("cannot adopt an instance", "claim", c.Name, "pool", translate.PoolCalled(c.Labels), "instance",
		c.Annotations[api.AnnotationAdopt], "why", why)
	a.Events.Publish(observe.Event{About: c, Key: "NodeClaim/" + c.Name, Warning: true,
		Reason: karpv1.ReasonNotAdopted, Message: why})
	return nil
}

// write makes the instance known as the claim's for good, as for one that is launched. Tags
// come after: until then the cloud does not end it.
func (a *Adoptions) write(ctx context.Context, c *karpv1.NodeClaim, found adoptee) error {
	m := found.instance
	before := c.DeepCopy()
	c.Labels = translate.LaunchLabels(c, m.Identity(), m.ZoneID, found.kind, found.offering)
	if !found.known {
		maps.Copy(c.Labels, unknownLabels(c, found.node))
	}
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	maps.Copy(c.Annotations, found.class.Annotations)
	translate.RecordOverlays(c.Annotations, found.changes)
	if err := a.Store.Patch(ctx, c,
		client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("write labels of instance %s to claim %s: %w", m.ID, c.Name, err)
	}
	before = c.DeepCopy()
	c.Status.ProviderID, c.Status.ImageID = m.ProviderID, m.Image
	c.Status.Capacity, c.Status.Allocatable = found.node.Status.Capacity.DeepCopy(), found.node.Status.Allocatable.DeepCopy()
	condition.SetTrue(c, karpv1.ClaimLaunched, a.Now())
	condition.Begin(c, a.Now())
	if err := a.Store.Status().Patch(ctx, c,
		client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("write instance %s to claim %s: %w", m.ID, c.Name, err)
	}
	a.Log.Info("adopted an instance", "claim", c.Name, "pool", translate.PoolCalled(c.Labels), "instance", m.ID,
		"node", found.node.Name, "type", m.Kind,
		"zone", m.Zone, "capacityType", string(m.Option))
	a.Events.Publish(observe.Event{About: c, Key: "NodeClaim/" + c.Name, Reason: "Adopted",
		Message: fmt.Sprintf("adopted instance %s of node %s", m.ID, found.node.Name)})
	return nil
}

// unknownLabels are those by which a node describes its instance, for a type that the
// class does not offer.
func unknownLabels(c *karpv1.NodeClaim, node *corev1.Node) map[string]string {
	out := map[string]string{}
	for key, value := range node.Labels {
		_, there := c.Labels[key]
		isOfPool := key == api.LabelNodePool || key == api.LabelProvisioner || key == api.LabelNodeClass
		if !there && !isOfPool && api.IsWellKnown(key) {
			out[key] = value
		}
	}
	return out
}

// own puts the tags on a linked instance by which the cloud knows it as the cluster's, and
// notes that on the claim. An instance that is not to be had any more is left as it is.
func (a *Adoptions) own(ctx context.Context, c *karpv1.NodeClaim) error {
	id := translate.InstanceID(c.Status.ProviderID)
	m, err := a.Cloud.Adoptable(ctx, id)
	if isBeyond(err) {
		return nil
	}
	if err != nil {
		return fmt.Errorf("describe instance %s of claim %s to tag it: %w", id, c.Name, err)
	}
	class, err := a.Classes.Known(ctx, translate.ClassOf(c))
	if err != nil {
		return fmt.Errorf("tag instance %s of claim %s: %w", id, c.Name, err)
	}
	tags := translate.InstanceTags(c)
	tags[api.TagNodeClaim] = c.Name
	if _, named := m.Tags[api.TagName]; !named && c.Status.NodeName != "" {
		tags[api.TagName] = c.Status.NodeName
	}
	if err := a.Cloud.Adopt(ctx, m, class.Cloud, tags); err != nil {
		if isBeyond(err) {
			return nil
		}
		a.Events.Publish(observe.Event{About: c, Key: "NodeClaim/" + c.Name, Warning: true, Reason: "NotTagged",
			Message: fmt.Sprintf("instance %s stays without the tags that mark it as the cluster's, and cannot be terminated: %s", id, cloud.Cause(err, condition.MessageMax))})
		return fmt.Errorf("tag instance %s of claim %s: %w", id, c.Name, err)
	}
	return recordTags(ctx, a.Store, c, true)
}

// isBeyond reports whether an instance has ended, or has begun to, or is another's by now.
func isBeyond(err error) bool {
	refused, isRefused := errors.AsType[*cloud.RefusedError](err)
	_, isGone := errors.AsType[*cloud.NotFoundError](err)
	return isGone || isRefused && refused.Reason == cloud.NotAdoptable
}

// release lets the claim go that had the instance before, without the instance. Its
// finalizer goes with the word on who has it, so that none ends it in between.
func release(ctx context.Context, store client.Client, log *slog.Logger, c *karpv1.NodeClaim) error {
	from := &karpv1.NodeClaim{}
	name := c.Annotations[api.AnnotationAdoptFrom]
	if name == "" || name == c.Name || !condition.IsTrue(c, karpv1.ClaimRegistered) {
		return nil
	}
	if err := store.Get(ctx, client.ObjectKey{Name: name}, from); err != nil {
		return client.IgnoreNotFound(err)
	}
	if from.Status.ProviderID != c.Status.ProviderID || !translate.TakesFrom(c, from) {
		return nil
	}
	from = from.DeepCopy()
	before := from.DeepCopy()
	if from.Annotations == nil {
		from.Annotations = map[string]string{}
	}
	from.Annotations[api.AnnotationAdoptedBy] = c.Name
	controllerutil.RemoveFinalizer(from, api.FinalizerTermination)
	if err := store.Patch(ctx, from,
		client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return client.IgnoreNotFound(fmt.Errorf("release claim %s, whose instance claim %s has: %w", name, c.Name, err))
	}
	if err := store.Delete(ctx, from, client.Preconditions{UID: &from.UID}); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete claim %s, whose instance claim %s has: %w", name, c.Name, err)
	}
	log.Info("deleted a nodeclaim whose instance another one has", "claim", name, "by", c.Name)
	return nil
}
