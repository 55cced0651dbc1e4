// Package nodeclaim moves each NodeClaim one step further: launched, registered, initialized and, when
// it is deleted, its instance terminated.
//
// It promises that an instance is never launched twice for one NodeClaim and never leaked, and that no
// NodeClaim waits for another. It does not decide which NodeClaims there should be.
package nodeclaim

import (
	"context"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apiclock"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// How long a claim may take, from its creation to being launched and from then
// to its node, before it is given up and replaced.
const (
	launchFor   = 5 * time.Minute
	registerFor = 15 * time.Minute
)

// lateAfter is how long most images take to boot and join at most; past it a claim
// says what may be wrong.
const lateAfter = 2 * time.Minute

// beginAfter is how old a claim is that says of what is to come that it is not known yet.
// Most have their machine by then, and that is written with what they say of it.
const beginAfter = 2 * time.Second

// askAgain is how often a machine is asked for until there is one: the
// launcher may have met an obstacle that no change of the claim tells of.
const askAgain = 10 * time.Second

// doubtAgain is how soon an instance that seems overdue by a clock in doubt is looked at again.
const doubtAgain = 10 * time.Second

// adder is the part of the Launcher this package's loop uses.
type adder interface {
	Add(name string)
	Nudge(name string)
}

// Reconciler is the loop over claims.
type Reconciler struct {
	Store    client.Client
	Live     client.Reader // reads past every cache
	Launcher adder
	Machines cloud.Machines
	Events   publisher
	Metrics  *observe.Metrics
	Log      *slog.Logger
	Health   func(c *karpv1.NodeClaim, registered bool)      // told how each registration ended
	Memory   func(kind, image string, memory quantity.Bytes) // told what machines that are ready have; may be nil
	Adopts   *Adoptions                                      // links claims with machines that run already
	Now      func() time.Time
	Doubt    apiclock.Doubt // of that time: no claim is given up meanwhile

	Nominations *Nominations // pods that nodes are nominated for; nil: none

	// Held reports whether a deleted claim is to keep its node for now, since all claims were
	// deleted at once; nil: none is held.
	Held func(ctx context.Context, c *karpv1.NodeClaim) (bool, error)
}

// recheckHeld is how soon a deleted claim that is held is looked at again.
const recheckHeld = 10 * time.Second

// Reconcile observes one claim, takes the next step and returns how long to
// wait before the next look; zero means wait for a change.
func (r *Reconciler) Reconcile(ctx context.Context, name string) (time.Duration, error) {
	c := &karpv1.NodeClaim{}
	if err := r.Store.Get(ctx, client.ObjectKey{Name: name}, c); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	c = c.DeepCopy()
	if c.DeletionTimestamp != nil {
		return r.finalize(ctx, c)
	}
	if c.Annotations[api.AnnotationAdoptedBy] != "" {
		return 0, nil // it is about to go, without its machine
	}
	if err := r.addFinalizer(ctx, c); err != nil {
		return 0, err
	}
	switch {
	case c.Status.ProviderID != "":
	case !translate.Adopts(c):
		return r.launch(ctx, c)
	default:
		if linked, err := r.Adopts.link(ctx, c); err != nil || !linked {
			return adoptAgain, err
		}
	}
	return r.follow(ctx, c)
}

func (r *Reconciler) addFinalizer(ctx context.Context, c *karpv1.NodeClaim) error {
	before := c.DeepCopy()
	if !controllerutil.AddFinalizer(c, api.FinalizerTermination) {
		return nil
	}
	if err := r.Store.Patch(ctx, c, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("add finalizer to claim %s: %w", c.Name, err)
	}
	return nil
}

// launch asks for a machine, or gives the claim up when it has taken too long
// or was withdrawn.
// A claim that a launch was tried for is the launcher's to give up: it alone
// can tell that no machine came of it.
func (r *Reconciler) launch(ctx context.Context, c *karpv1.NodeClaim) (time.Duration, error) {
	left := launchFor - r.Now().Sub(c.CreationTimestamp.Time)
	_, tried := attemptOf(c)
	if translate.IsWithdrawn(c) && !tried {
		return 0, r.letGo(ctx, c)
	}
	if left <= 0 && !tried && r.Doubt.Why() == "" {
		return 0, r.giveUp(ctx, c, labelTooLate, reasonTooLate, tooLate)
	}
	r.Launcher.Add(c.Name)
	if translate.IsWithdrawn(c) {
		r.Launcher.Nudge(c.Name)
	}
	if soon := left - launchFor + beginAfter; soon > 0 {
		return soon, nil
	}
	before := c.DeepCopy()
	if condition.Begin(c, r.Now()) {
		if err := r.writeStatus(ctx, c, before); err != nil {
			return 0, fmt.Errorf("write first conditions of claim %s: %w", c.Name, err)
		}
	}
	if left <= 0 {
		return askAgain, nil
	}
	return min(left, askAgain), nil
}

// follow takes a launched claim through registration and initialisation.
func (r *Reconciler) follow(ctx context.Context, c *karpv1.NodeClaim) (time.Duration, error) {
	nodes, err := r.nodesOf(ctx, c)
	if err != nil {
		return 0, err
	}
	waits, err := r.findPartition(ctx, c, nodes)
	if err != nil {
		return 0, err
	}
	before := c.DeepCopy()
	var node *corev1.Node
	if len(nodes) == 1 {
		node = &nodes[0]
	}
	var differs string
	if node != nil && waits == "" && !condition.IsTrue(before, karpv1.ClaimRegistered) {
		differs = mismatch(c, node)
	}
	held, err := r.register(ctx, c, nodes, waits)
	if err != nil {
		return 0, err
	}
	if condition.IsTrue(c, karpv1.ClaimRegistered) {
		if err := r.initialise(ctx, c, node); err != nil {
			return 0, err
		}
	}
	if condition.IsTrue(c, karpv1.ClaimInitialized) && node != nil {
		r.compare(c, node)
		r.weigh(c, node)
	}
	condition.Begin(c, r.Now())
	if !equality.Semantic.DeepEqual(before.Status, c.Status) {
		if err := r.writeStatus(ctx, c, before); err != nil {
			return 0, fmt.Errorf("write status of claim %s: %w", c.Name, err)
		}
	}
	if differs != "" {
		return 0, r.replaceMismatch(ctx, c, differs)
	}
	if RegisteredReason(c) == karpv1.ReasonAwaitingSpreadDomains && RegisteredReason(before) != RegisteredReason(c) {
		r.Log.Info("node has joined and waits for others", "claim", c.Name, "message", condition.Get(c, karpv1.ClaimRegistered).Message)
	}
	if condition.IsTrue(c, karpv1.ClaimRegistered) && !condition.IsTrue(before, karpv1.ClaimRegistered) {
		r.hasJoined(c)
	}
	if err := r.release(ctx, c); err != nil {
		return 0, err
	}
	if condition.IsTrue(c, karpv1.ClaimInitialized) && !condition.IsTrue(before, karpv1.ClaimInitialized) {
		r.Log.Info("initialized nodeclaim", "claim", c.Name, "node", c.Status.NodeName, "afterSeconds", r.age(c))
	}
	if held > 0 {
		return held, nil // the node is there
	}
	if condition.IsTrue(c, karpv1.ClaimRegistered) {
		return r.nominateAgain(ctx, c, node)
	}
	return r.timeout(ctx, c)
}

// writeStatus writes what changed, unless the claim changed meanwhile: a
// patch replaces the whole list of conditions, those of other loops included.
func (r *Reconciler) writeStatus(ctx context.Context, c, before *karpv1.NodeClaim) error {
	return r.Store.Status().Patch(ctx, c, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
}

// hasJoined tells of a registration, once it is written.
func (r *Reconciler) hasJoined(c *karpv1.NodeClaim) {
	if translate.Adopts(c) {
		r.Metrics.NodesAdopted.WithLabelValues(translate.PoolCalled(c.Labels), c.Labels[api.LabelZone]).Inc()
		return
	}
	r.Log.Info("registered nodeclaim", "claim", c.Name, "node", c.Status.NodeName, "instance", c.Status.ProviderID,
		"type", c.Labels[api.LabelInstanceType], "afterSeconds", r.age(c))
	r.Metrics.NodesCreated.WithLabelValues(translate.PoolCalled(c.Labels), c.Labels[api.LabelZone]).Inc()
	if r.Health != nil {
		r.Health(c, true)
	}
}

// age is how long ago the claim was made, in words.
func (r *Reconciler) age(c *karpv1.NodeClaim) float64 {
	return r.Now().Sub(c.CreationTimestamp.Time).Round(time.Second).Seconds()
}

// timeout gives up a machine whose node does not come, and looks again when the
// claim is to say that it is late.
func (r *Reconciler) timeout(ctx context.Context, c *karpv1.NodeClaim) (time.Duration, error) {
	if condition.IsTrue(c, karpv1.ClaimRegistered) {
		return 0, nil
	}
	boots := r.boots(c)
	switch {
	case boots < lateAfter:
		return lateAfter - boots, nil
	case boots < registerFor:
		return registerFor - boots, nil
	case r.Doubt.Why() != "":
		return doubtAgain, nil
	}
	if r.Health != nil {
		r.Health(c, false)
	}
	return 0, r.giveUp(ctx, c, "registration_timeout", "RegistrationTimeout", fmt.Sprintf(
		"instance %s did not join the cluster within %v and is replaced; %s", c.Status.ProviderID, registerFor, causes))
}

// boots is how long ago the machine was launched.
func (r *Reconciler) boots(c *karpv1.NodeClaim) time.Duration {
	since := c.CreationTimestamp.Time
	if launched := condition.Get(c, karpv1.ClaimLaunched); launched != nil && launched.LastTransitionTime.After(since) {
		since = launched.LastTransitionTime.Time
	}
	return r.Now().Sub(since)
}

// causes are what usually keeps a machine out of a cluster.
const causes = "likely causes: its node role is not mapped (EKS access entry of type EC2_LINUX, or aws-auth), " +
	"its security groups or subnet do not reach the API server, or its user data is wrong (see the machine's console log)"

// missing says that there is no node for the machine, and why that may be once it
// takes longer than machines usually take to boot.
func (r *Reconciler) missing(c *karpv1.NodeClaim) string {
	if r.boots(c) < lateAfter {
		return "no node has joined the cluster for this machine yet"
	}
	return fmt.Sprintf("no node has joined the cluster for machine %s in %v; after %v it is replaced. If its image does not always take as long, %s",
		c.Status.ProviderID, lateAfter, registerFor, causes)
}

// letGo deletes a withdrawn claim that no launch was tried for; if one was
// meanwhile, the launcher lets it go.
func (r *Reconciler) letGo(ctx context.Context, c *karpv1.NodeClaim) error {
	asSeen := client.Preconditions{UID: ptr(c.UID), ResourceVersion: ptr(c.ResourceVersion)}
	if err := r.Store.Delete(ctx, c, asSeen); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("delete claim %s, which was withdrawn: %w", c.Name, err)
	}
	countDisrupted(r.Metrics, c, labelWithdrawn)
	r.Log.Info("deleted a withdrawn nodeclaim", "claim", c.Name, "pool", translate.PoolCalled(c.Labels), "reason", c.Annotations[api.AnnotationWithdrawn])
	return nil
}

// giveUp deletes the claim as it was seen; one that changed meanwhile, so that
// it may have its machine, is looked at again.
func (r *Reconciler) giveUp(ctx context.Context, c *karpv1.NodeClaim, label, reason, text string) error {
	r.Events.Publish(observe.Event{About: c, Key: "NodeClaim/" + c.Name, Warning: true, Reason: reason, Message: text})
	r.Log.Warn("gave up a nodeclaim", "claim", c.Name, "pool", translate.PoolCalled(c.Labels), "reason", reason, "message", text)
	asSeen := client.Preconditions{UID: ptr(c.UID), ResourceVersion: ptr(c.ResourceVersion)}
	if err := r.Store.Delete(ctx, c, asSeen); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("give up claim %s (%s): %w", c.Name, reason, err)
	}
	countDisrupted(r.Metrics, c, label)
	return nil
}

// nodesOf lists the nodes with the claim's provider ID; there should be one.
func (r *Reconciler) nodesOf(ctx context.Context, c *karpv1.NodeClaim) ([]corev1.Node, error) {
	var list corev1.NodeList
	if err := r.Store.List(ctx, &list, client.MatchingFields{IndexProviderID: c.Status.ProviderID}); err != nil {
		return nil, fmt.Errorf("list nodes of claim %s: %w", c.Name, err)
	}
	return list.Items, nil
}

// IndexProviderID is the field index over nodes that the store must have.
const IndexProviderID = "spec.providerID"
