package termination

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"strings"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/apiclock"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/kube/surge"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

const recheckDrain = time.Second

// recheckHeld is how soon a node whose drain is held is checked again.
const recheckHeld = 10 * time.Second

// Field indexes that the store must have: over pods, and over claims.
const (
	IndexNodeName   = "spec.nodeName"
	IndexProviderID = "status.providerID"
)

type publisher interface{ Publish(observe.Event) }

// Reconciler is the loop over nodes that are being deleted.
type Reconciler struct {
	Store      client.Client
	Live       client.Reader // reads past every cache
	Serves     translate.Generations
	Instances  cloud.Instances
	Events     publisher
	Metrics    *observe.Metrics
	Log        *slog.Logger
	Now        func() time.Time
	Doubt      apiclock.Doubt // of that time: no deadline has come meanwhile
	Holds      holds
	Surges     surge.Records
	Autoscaler mark.ClusterAutoscaler   // whether what users wrote for it counts
	Shifted    func(zoneID string) bool // reports zones that work is shifted away from; nil: of none
	Foreign    func(ctx context.Context, n *corev1.Node) (bool,
		error) // whether a node that no claim of ours is about is another provider's

	// Held reports whether a node that no claim has is not to be drained, since too many
	// have lost theirs at once; nil: none is.
	Held func(ctx context.Context, n *corev1.Node) (bool, error)

	seen     struct{ silent, ending looks } // instances whose kubelets are silent, and instances terminated
	deciding turns                          // whether the last ready pod of a Service goes

	mu           sync.Mutex
	retries      map[types.UID]retry // by pod
	seekSurgesAt time.Time           // when records of second replicas are searched for again
}

// Reconcile takes the next step with one node and returns how long to wait before the next
// check; zero means wait for a change.
func (r *Reconciler) Reconcile(ctx context.Context, name string) (time.Duration, error) {
	node := &corev1.Node{}
	if err := r.Store.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return 0, client.IgnoreNotFound(err)
	}
	if node.DeletionTimestamp == nil || !controllerutil.ContainsFinalizer(node, api.FinalizerTermination) {
		return 0, nil
	}
	node = node.DeepCopy()
	claim, err := r.claimOf(ctx, node)
	if err != nil {
		return 0, err
	}
	if claim == nil {
		if foreign, err := r.Foreign(ctx, node); err != nil || foreign {
			return 0, err
		}
	}
	if claim != nil && claim.DeletionTimestamp == nil {
		if err := r.Store.Delete(ctx, claim, client.Preconditions{UID: &claim.UID}); client.IgnoreNotFound(err) != nil {
			return 0, fmt.Errorf("delete claim %s of deleted node %s: %w", claim.Name, name, err)
		}
	}
	if r.seen.ending.isSent(translate.InstanceID(node.Spec.ProviderID)) {
		return r.giveBack(ctx, node, claim) // it was emptied before
	}
	if gone, err := r.goneAlready(ctx, node, claim); err != nil || gone {
		if err != nil {
			return 0, err
		}
		if err := r.endPods(ctx, node); err != nil {
			return 0, err
		}
		return 0, r.forget(ctx, node, claim)
	}
	if claim == nil && r.Held != nil {
		if held, err := r.Held(ctx, node); err != nil || held {
			return recheckHeld, err
		}
	}
	if err := r.close(ctx, node); err != nil {
		return 0, err
	}
	d, err := r.departureOf(ctx, node, claim)
	if err != nil {
		return 0, err
	}
	if wait, err := r.empty(ctx, d, claim); err != nil || wait > 0 {
		return wait, err
	}
	if wait := r.awaitBalancers(d); wait > 0 {
		return wait, nil
	}
	return r.giveBack(ctx, node, claim)
}

// departureOf gathers what the node's claim and its pool say of its end.
func (r *Reconciler) departureOf(ctx context.Context, node *corev1.Node, claim *karpv1.NodeClaim) (*departure, error) {
	d := &departure{node: node, deadline: deadlineOf(claim), endsAt: endOf(claim), reason: reasonOf(claim)}
	pool, err := r.Serves.Read(ctx, r.Store, translate.PoolOfNode(node))
	if client.IgnoreNotFound(err) != nil {
		return nil, fmt.Errorf("read the pool of node %s: %w", node.Name, err)
	}
	d.pool = pool.Annotations
	if r.Doubt.Why() != "" {
		d.deadline = time.Time{}
	}
	d.leave, _ = mark.Leave{}.Over(pool.Annotations) // what is misread is reported on the pool
	return d, nil
}

// reasonOf is what a plan chose the claim for, in the words of metrics; empty: none did.
func reasonOf(claim *karpv1.NodeClaim) string {
	if claim == nil {
		return ""
	}
	if why := condition.Get(claim, karpv1.ClaimDisruptionReason); why != nil {
		return strings.ToLower(why.Reason)
	}
	return ""
}

// overBy is the moment that ends are compared with: none has come while the clock is in doubt.
func (r *Reconciler) overBy() time.Time {
	if r.Doubt.Why() != "" {
		return time.Time{}
	}
	return r.Now()
}

// claimOf looks the node's claim up by index; nil where it has none.
func (r *Reconciler) claimOf(ctx context.Context, node *corev1.Node) (*karpv1.NodeClaim, error) {
	if node.Spec.ProviderID == "" {
		return nil, nil
	}
	var list karpv1.NodeClaimList
	if err := r.Store.List(ctx, &list, client.MatchingFields{IndexProviderID: node.Spec.ProviderID}); err != nil {
		return nil, fmt.Errorf("look for the claim of node %s: %w", node.Name, err)
	}
	if len(list.Items) == 0 {
		return nil, nil
	}
	return list.Items[0].DeepCopy(), nil
}

func stillToLeave(pods int) string {
	if pods == 1 {
		return "1 pod is still to leave"
	}
	return fmt.Sprintf("%d pods are still to leave", pods)
}

// empty makes the pods leave. It returns how long to wait before the next check; zero means
// that the node is empty and its volumes are detached.
func (r *Reconciler) empty(ctx context.Context, d *departure, claim *karpv1.NodeClaim) (time.Duration, error) {
	node := d.node
	pods, err := r.podsOn(ctx, r.Store, node.Name)
	if err != nil {
		return 0, err
	}
	if group, later := leaving(pods, r.overBy()); len(group) > 0 {
		if err := r.say(ctx, claim, karpv1.ClaimDrained, karpv1.ReasonDraining,
			stillToLeave(len(group)+len(later))); err != nil {
			return 0, err
		}
		r.reportDeadline(node, d.deadline)
		group, stay := r.stand(d, pods, group)
		return recheckDrain, errors.Join(r.ask(ctx, d, group), r.hurry(ctx, d, append(stay, later...)))
	}
	if left := translate.StabilizeFor - r.Now().Sub(apply.TaintedAt(node)); left > 0 {
		return left, nil
	}
	// A pod bound just before the taint was seen may not be in the cache yet.
	live, err := r.podsOn(ctx, r.Live, node.Name)
	if err != nil {
		return 0, err
	}
	if group, _ := leaving(live, r.overBy()); len(group) > 0 {
		return recheckDrain, nil
	}
	if err := r.say(ctx, claim, karpv1.ClaimDrained, "", ""); err != nil {
		return 0, err
	}
	return r.awaitVolumes(ctx, d, claim, live)
}

func (r *Reconciler) forget(ctx context.Context, node *corev1.Node, claim *karpv1.NodeClaim) error {
	before := node.DeepCopy()
	controllerutil.RemoveFinalizer(node, api.FinalizerTermination)
	if err := r.Store.Patch(ctx, node,
		client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("remove finalizer of node %s: %w", node.Name, err)
	}
	r.Log.Info("deleted node", "node", node.Name, "pool", translate.PoolCalled(node.Labels), "instance",
		node.Spec.ProviderID)
	id := translate.InstanceID(node.Spec.ProviderID)
	r.seen.silent.drop(id)
	r.seen.ending.drop(id)
	if claim != nil {
		r.Metrics.NodesTerminated.WithLabelValues(translate.PoolCalled(claim.Labels), claim.Labels[api.LabelZone]).Inc()
	}
	return nil
}

// say writes a condition of the claim: true where reason is empty, else
// unknown with the reason. It is a conflict where the claim changed meanwhile,
// since a patch replaces the conditions of other loops too.
func (r *Reconciler) say(ctx context.Context, claim *karpv1.NodeClaim, kind, reason, message string) error {
	if claim == nil {
		return nil
	}
	before := claim.DeepCopy()
	var changed bool
	if reason == "" {
		changed = condition.SetTrue(claim, kind, r.Now())
	} else {
		changed = condition.SetUnknown(claim, kind, reason, message, r.Now())
	}
	if !changed {
		return nil
	}
	lock := client.MergeFromWithOptimisticLock{}
	if err := r.Store.Status().Patch(ctx, claim,
		client.MergeFromWithOptions(before, lock)); client.IgnoreNotFound(err) != nil {
		return fmt.Errorf("write condition %s of claim %s: %w", kind, claim.Name, err)
	}
	return nil
}

func (r *Reconciler) podsOn(ctx context.Context, from client.Reader, node string) ([]corev1.Pod, error) {
	var list corev1.PodList
	if err := from.List(ctx, &list, client.MatchingFields{IndexNodeName: node}); err != nil {
		return nil, fmt.Errorf("list pods of node %s: %w", node, err)
	}
	return list.Items, nil
}
