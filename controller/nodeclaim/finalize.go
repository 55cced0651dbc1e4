package nodeclaim

import (
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/util/sets"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// An instance that was terminated is looked at soon, and then less and less
// often: each time after half as long again as it has been ending, so that one
// that ends at once is noticed at once, and one that takes minutes costs few
// calls.
const (
	checkFirst = time.Second
	checkMax   = 10 * time.Second
	// sendAgain is how long an instance that was terminated may not show it before
	// it is terminated again.
	sendAgain = time.Minute
	// visibleAfter is when the cloud certainly knows an instance that it launched.
	visibleAfter = time.Minute
)

// recheckHeld is how soon a deleted claim that is held is looked at again.
const recheckHeld = 10 * time.Second

// finalizer sees deleted claims out.
type finalizer struct {
	store       client.Client
	live        client.Reader // reads past every cache
	instances   cloud.Instances
	metrics     *observe.Metrics
	log         *slog.Logger
	now         func() time.Time
	adopts      *Adoptions
	nominations *Nominations
	held        func(ctx context.Context, c *karpv1.NodeClaim) (bool, error) // see Reconciler.Held
}

// finalize gives the instance of a deleted claim back: first its node is
// drained, by the loop over nodes, then the instance goes, then the claim.
func (f finalizer) finalize(ctx context.Context, c *karpv1.NodeClaim) (time.Duration, error) {
	if !controllerutil.ContainsFinalizer(c, api.FinalizerTermination) {
		return 0, nil
	}
	f.nominations.forget(c.Name, c.Status.NodeName)
	if err := f.setDeadline(ctx, c); err != nil {
		return 0, err
	}
	if c.Annotations[api.AnnotationAdoptedBy] != "" {
		return 0, f.forget(ctx, c) // another claim has the instance
	}
	if c.Status.ProviderID == "" {
		return 0, f.forget(ctx, c) // what was launched without our knowledge is collected by its tags
	}
	switch replacement, err := f.replacement(ctx, c); {
	case err != nil:
		return 0, err
	case replacement != nil && condition.IsTrue(replacement, karpv1.ClaimRegistered):
		return 0, f.forget(ctx, c)
	case replacement != nil:
		return checkFirst, nil // the node is the claim's until it is the replacement's
	}
	nodes, err := nodesOf(ctx, f.store, c)
	if err != nil {
		return 0, err
	}
	if held, err := f.isHeld(ctx, c, nodes); held || err != nil {
		return recheckHeld, err
	}
	if left, err := f.deleteNodes(ctx, c, nodes); err != nil || left > 0 {
		return 0, err
	}
	if left, err := f.deleteUnseenNodes(ctx, c, nodes); err != nil || left > 0 {
		return checkFirst, err
	}
	gone, err := f.giveBack(ctx, c)
	if err != nil {
		return 0, err
	}
	if !gone {
		return nextCheck(f.endingFor(c)), nil
	}
	return 0, f.forget(ctx, c)
}

// isHeld reports whether nothing is to be done about the claim's end yet. One whose node or instance goes already
// is not held.
func (f finalizer) isHeld(ctx context.Context, c *karpv1.NodeClaim, nodes []corev1.Node) (bool, error) {
	goes := func(n corev1.Node) bool { return n.DeletionTimestamp != nil }
	if f.held == nil || condition.IsTrue(c, karpv1.ClaimInstanceTerminating) || slices.ContainsFunc(nodes, goes) {
		return false, nil
	}
	return f.held(ctx, c)
}

// replacement is the claim that has the instance by now and takes it over from the claim; nil: there
// is none. The claim may be deleted by a user before it was let go.
func (f finalizer) replacement(ctx context.Context, c *karpv1.NodeClaim) (*karpv1.NodeClaim, error) {
	if condition.IsTrue(c, karpv1.ClaimInstanceTerminating) {
		return nil, nil // it was terminated already
	}
	var list karpv1.NodeClaimList
	if err := f.store.List(ctx, &list, client.MatchingFields{IndexInstance: c.Status.ProviderID}); err != nil {
		return nil, fmt.Errorf("see whether another claim has the instance of claim %s: %w", c.Name, err)
	}
	for i := range list.Items {
		if o := &list.Items[i]; o.UID != c.UID && translate.TakesFrom(o, c) {
			return o, nil
		}
	}
	return nil, nil
}

// nextCheck is how long after a look at an instance that has been ending for so
// long the next is due.
func nextCheck(ending time.Duration) time.Duration { return min(max(ending/2, checkFirst), checkMax) }

// endingFor is how long ago the instance was terminated first.
func (f finalizer) endingFor(c *karpv1.NodeClaim) time.Duration {
	ending := condition.Get(c, karpv1.ClaimInstanceTerminating)
	if ending == nil {
		return 0
	}
	return f.now().Sub(ending.LastTransitionTime.Time)
}

// setDeadline notes once when the drain must end, where the claim limits it. One that
// another controller has recorded by now stays: that of an instance that fails is over at once.
func (f finalizer) setDeadline(ctx context.Context, c *karpv1.NodeClaim) error {
	grace, limited := c.Spec.TerminationGracePeriod.Value()
	if !limited || c.Annotations[api.AnnotationTerminationTimestamp] != "" {
		return nil
	}
	before := c.DeepCopy()
	if c.Annotations == nil {
		c.Annotations = map[string]string{}
	}
	c.Annotations[api.AnnotationTerminationTimestamp] = c.DeletionTimestamp.Add(grace).UTC().Format(time.RFC3339)
	if err := f.store.Patch(ctx, c,
		client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("write drain deadline on claim %s: %w", c.Name, err)
	}
	return nil
}

// deleteNodes asks for those of the claim's nodes to go that may have pods, and counts them. A
// node that was made ready for pods, as our finalizer on it shows, has to be drained even where
// the claim does not say Registered: that is written later, and may not have been.
func (f finalizer) deleteNodes(ctx context.Context, c *karpv1.NodeClaim, nodes []corev1.Node) (left int, err error) {
	registered := condition.IsTrue(c, karpv1.ClaimRegistered)
	for i := range nodes {
		if !registered && !controllerutil.ContainsFinalizer(&nodes[i], api.FinalizerTermination) {
			continue // it takes no pods yet
		}
		left++
		if nodes[i].DeletionTimestamp != nil {
			continue
		}
		// Host names come again with their addresses: not the node that has the name by now.
		if err := f.store.Delete(ctx, &nodes[i],
			client.Preconditions{UID: &nodes[i].UID}); client.IgnoreNotFound(err) != nil {
			return 0, fmt.Errorf("delete node %s of claim %s: %w", nodes[i].Name, c.Name, err)
		}
	}
	return left, nil
}

// deleteUnseenNodes does the same for nodes as the API server has them, before the instance is
// terminated: a watch that is late, as after a change of leaders, may not have shown the node, or
// not that it takes pods by now. A look costs one read of a node whose name is known, and else a
// list of the pool's registered nodes of the claim's instance type and zone.
func (f finalizer) deleteUnseenNodes(ctx context.Context, c *karpv1.NodeClaim, seen []corev1.Node) (left int,
	err error) {
	if condition.IsTrue(c, karpv1.ClaimInstanceTerminating) {
		return 0, nil
	}
	nodes, err := f.liveNodesOf(ctx, c, seen)
	if err != nil {
		return 0, fmt.Errorf("look for the node of claim %s before its instance is terminated: %w", c.Name, err)
	}
	return f.deleteNodes(ctx, c, nodes)
}

// liveNodesOf reads the claim's nodes past every cache. Of nodes whose names are not known those
// that are registered are found.
func (f finalizer) liveNodesOf(ctx context.Context, c *karpv1.NodeClaim, seen []corev1.Node) ([]corev1.Node, error) {
	var list corev1.NodeList
	names := sets.New[string]()
	for i := range seen {
		names.Insert(seen[i].Name)
	}
	if c.Status.NodeName != "" {
		names.Insert(c.Status.NodeName)
	}
	for _, name := range sets.List(names) {
		var n corev1.Node
		switch err := f.live.Get(ctx, client.ObjectKey{Name: name}, &n); {
		case err == nil:
			list.Items = append(list.Items, n)
		case !apierrors.IsNotFound(err):
			return nil, err
		}
	}
	if len(names) == 0 {
		like := client.MatchingLabels{api.LabelRegistered: "true"}
		for _, key := range []string{api.LabelNodePool, api.LabelInstanceType, api.LabelZone} {
			if value, ok := c.Labels[key]; ok {
				like[key] = value
			}
		}
		if err := f.live.List(ctx, &list, like); err != nil {
			return nil, err
		}
	}
	return slices.DeleteFunc(list.Items,
		func(n corev1.Node) bool { return n.Spec.ProviderID != c.Status.ProviderID }), nil
}

// giveBack ends the instance, once, and from then on reports whether it is gone.
func (f finalizer) giveBack(ctx context.Context, c *karpv1.NodeClaim) (gone bool, err error) {
	if condition.IsTrue(c, karpv1.ClaimInstanceTerminating) {
		state, err := f.stateOf(ctx, c)
		if err != nil || state == "" {
			return err == nil, err
		}
		if state == cloud.ShuttingDown || f.endingFor(c) < sendAgain {
			return false, nil
		}
	}
	id := translate.InstanceID(c.Status.ProviderID)
	if !translate.IsListed(c) {
		if err := f.adopts.own(ctx, c); err != nil {
			return false, err
		}
	}
	found, err := f.instances.Terminate(ctx, id)
	if cloud.IsNotVisible(err) {
		return false, nil // nothing was sent: it is sent within seconds
	}
	if err != nil {
		f.metrics.EndFailures.WithLabelValues(c.Labels[api.LabelZone], c.Labels[api.LabelZoneID]).Inc()
		return false, fmt.Errorf("terminate instance %s of claim %s: %w", id, c.Name, err)
	}
	if len(found) > 0 {
		// A process that did not launch it itself cannot know one that is not visible yet.
		return condition.IsTrue(c, karpv1.ClaimRegistered) || boots(c, f.now()) >= visibleAfter, nil
	}
	before := c.DeepCopy()
	if condition.SetTrue(c, karpv1.ClaimInstanceTerminating, f.now()) {
		if err := writeStatus(ctx, f.store, c, before); client.IgnoreNotFound(err) != nil {
			return false, fmt.Errorf("write status of claim %s: %w", c.Name, err)
		}
	}
	return false, nil
}

// stateOf asks the cloud where the claim's instance is in its life; the answer
// is empty for one that has ceased to exist.
func (f finalizer) stateOf(ctx context.Context, c *karpv1.NodeClaim) (cloud.State, error) {
	id := translate.InstanceID(c.Status.ProviderID)
	list, err := f.instances.List(ctx, cloud.Filter{IDs: []string{id}})
	if err != nil {
		return "", fmt.Errorf("look for instance %s of claim %s: %w", id, c.Name, err)
	}
	if len(list) == 0 {
		return "", nil
	}
	return list[0].State, nil
}

// forget lets the claim go.
func (f finalizer) forget(ctx context.Context, c *karpv1.NodeClaim) error {
	before := c.DeepCopy()
	controllerutil.RemoveFinalizer(c, api.FinalizerTermination)
	if err := f.store.Patch(ctx, c,
		client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove finalizer of claim %s: %w", c.Name, err)
	}
	f.log.Info("deleted nodeclaim", "claim", c.Name, "pool", translate.PoolCalled(c.Labels), "node",
		c.Status.NodeName, "instance", c.Status.ProviderID)
	if c.Status.ProviderID != "" {
		f.metrics.ClaimsTerminated.WithLabelValues(translate.PoolCalled(c.Labels), c.Labels[api.LabelCapacityType],
			c.Labels[api.LabelZone]).Inc()
	}
	return nil
}
