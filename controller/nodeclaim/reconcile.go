// Package nodeclaim advances each NodeClaim through its states: launched, registered, initialized,
// terminated.
//
// It promises that no instance of a NodeClaim is leaked, and that no NodeClaim waits for another. It
// launches nothing, and does not decide which NodeClaims there should be.
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
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/apiclock"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// launcher sees to claims that have no instance yet.
type launcher interface {
	// Launch asks for an instance or gives the claim up, and returns how long to wait before the next look.
	Launch(ctx context.Context, c *karpv1.NodeClaim) (time.Duration, error)
}

// Reconciler is the loop over claims.
type Reconciler struct {
	Store      client.Client
	Live       client.Reader // reads past every cache
	Launcher   launcher
	Instances  cloud.Instances
	Events     publisher
	Metrics    *observe.Metrics
	Log        *slog.Logger
	Health     func(c *karpv1.NodeClaim, registered bool)      // receives how each registration ended
	Memory     func(kind, image string, memory quantity.Bytes) // receives what instances that are ready have; may be nil
	Adopts     *Adoptions                                      // links claims with instances that run already
	Now        func() time.Time
	Doubt      apiclock.Doubt         // of that time: no claim is given up meanwhile
	Autoscaler mark.ClusterAutoscaler // whether startup taints of its kind count

	Devices     devices      // nil: those of dynamic resource allocation are not waited for
	Nominations *Nominations // pods that nodes are nominated for; nil: none

	// Held reports whether a deleted claim is to keep its node for now, since all claims were
	// deleted at once; nil: none is held.
	Held func(ctx context.Context, c *karpv1.NodeClaim) (bool, error)
}

// Reconcile observes one claim, takes the next step and returns how long to
// wait before the next look; zero means wait for a change.
func (r *Reconciler) Reconcile(ctx context.Context, name string) (time.Duration, error) {
	c := &karpv1.NodeClaim{}
	if err := r.Store.Get(ctx, client.ObjectKey{Name: name}, c); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	c = c.DeepCopy()
	if c.DeletionTimestamp != nil {
		return r.finalizer().finalize(ctx, c)
	}
	if c.Annotations[api.AnnotationAdoptedBy] != "" {
		return 0, nil // it is about to go, without its instance
	}
	if err := r.addFinalizer(ctx, c); err != nil {
		return 0, err
	}
	switch {
	case c.Status.ProviderID != "":
	case !translate.Adopts(c):
		return r.Launcher.Launch(ctx, c)
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
	if err := r.Store.Patch(ctx, c,
		client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
		return fmt.Errorf("add finalizer to claim %s: %w", c.Name, err)
	}
	return nil
}

// follow takes a launched claim through registration and initialisation.
func (r *Reconciler) follow(ctx context.Context, c *karpv1.NodeClaim) (time.Duration, error) {
	nodes, err := nodesOf(ctx, r.Store, c)
	if err != nil {
		return 0, err
	}
	waits, err := findPartition(ctx, r.Store, r.Instances, c, nodes)
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
	held, err := r.registration().register(ctx, c, nodes, waits)
	if err != nil {
		return 0, err
	}
	readiness := initialization{r.Store, r.Now, r.Autoscaler, r.Devices}
	if condition.IsTrue(c, karpv1.ClaimRegistered) {
		if err := readiness.initialise(ctx, c, node); err != nil {
			return 0, err
		}
	}
	if condition.IsTrue(c, karpv1.ClaimInitialized) && node != nil {
		checks := consistency{r.Events, r.Memory, r.Now, r.Devices}
		checks.compare(c, node)
		checks.weigh(c, node)
	}
	condition.Begin(c, r.Now())
	if !equality.Semantic.DeepEqual(before.Status, c.Status) {
		if err := writeStatus(ctx, r.Store, c, before); err != nil {
			return 0, fmt.Errorf("write status of claim %s: %w", c.Name, err)
		}
	}
	if differs != "" {
		return 0, r.dismissal().replace(ctx, c, "instance_mismatch", karpv1.ReasonInstanceMismatch,
			mismatchText(c, differs))
	}
	if RegisteredReason(c) == karpv1.ReasonAwaitingSpreadDomains && RegisteredReason(before) != RegisteredReason(c) {
		r.Log.Info("node has joined and waits for others", "claim", c.Name, "message",
			condition.Get(c, karpv1.ClaimRegistered).Message)
	}
	if condition.IsTrue(c, karpv1.ClaimRegistered) && !condition.IsTrue(before, karpv1.ClaimRegistered) {
		r.hasJoined(c)
	}
	if err := release(ctx, r.Store, r.Log, c); err != nil {
		return 0, err
	}
	if condition.IsTrue(c, karpv1.ClaimInitialized) && !condition.IsTrue(before, karpv1.ClaimInitialized) {
		r.Log.Info("initialized nodeclaim", "claim", c.Name, "node", c.Status.NodeName, "afterSeconds",
			ageOf(c, r.Now()))
	}
	if held > 0 {
		return held, nil // the node is there
	}
	if condition.IsTrue(c, karpv1.ClaimRegistered) {
		again, err := r.nominator().nominateAgain(ctx, c, node)
		if again == 0 && readiness.awaitsDevices(c) {
			again = publishedEvery
		}
		return again, err
	}
	return r.liveness(ctx, c)
}

// hasJoined reports a registration, once it is written.
func (r *Reconciler) hasJoined(c *karpv1.NodeClaim) {
	if translate.Adopts(c) {
		r.Metrics.NodesAdopted.WithLabelValues(translate.PoolCalled(c.Labels), c.Labels[api.LabelZone]).Inc()
		return
	}
	r.Log.Info("registered nodeclaim", "claim", c.Name, "node", c.Status.NodeName, "instance", c.Status.ProviderID,
		"type", c.Labels[api.LabelInstanceType], "afterSeconds", ageOf(c, r.Now()))
	r.Metrics.NodesCreated.WithLabelValues(translate.PoolCalled(c.Labels), c.Labels[api.LabelZone]).Inc()
	if r.Health != nil {
		r.Health(c, true)
	}
}

// liveness gives up an instance whose node does not come, and looks again when the
// claim is to say that it is late.
func (r *Reconciler) liveness(ctx context.Context, c *karpv1.NodeClaim) (time.Duration, error) {
	if condition.IsTrue(c, karpv1.ClaimRegistered) {
		return 0, nil
	}
	boots := boots(c, r.Now())
	switch {
	case boots < lateAfter:
		return lateAfter - boots, nil
	case boots < registerFor:
		return registerFor - boots, nil
	case r.Doubt.Why() != "":
		return doubtAgain, nil
	}
	return 0, r.dismissal().replace(ctx, c, "registration_timeout", "RegistrationTimeout", fmt.Sprintf(
		"instance %s did not join the cluster within %v and is replaced; %s", c.Status.ProviderID, registerFor, causes))
}

// Released names the claims whose nodes wait for others and, now that the
// claim changed, need another look. It costs next to nothing while none waits.
func (r *Reconciler) Released(ctx context.Context, changed *karpv1.NodeClaim) []string {
	return r.hold().released(ctx, changed)
}

func (r *Reconciler) hold() hold { return hold{r.Store, r.Now, r.Log} }

func (r *Reconciler) nominator() nominator {
	return nominator{r.Nominations, r.Store, r.Now, r.Log}
}

func (r *Reconciler) registration() registration {
	return registration{hold: r.hold(), nominator: r.nominator(), store: r.Store, events: r.Events, now: r.Now}
}

func (r *Reconciler) dismissal() dismissal {
	return dismissal{store: r.Store, events: r.Events, metrics: r.Metrics, log: r.Log, health: r.Health}
}

func (r *Reconciler) finalizer() finalizer {
	return finalizer{store: r.Store, live: r.Live, instances: r.Instances, metrics: r.Metrics, log: r.Log, now: r.Now,
		adopts: r.Adopts, nominations: r.Nominations, held: r.Held}
}
