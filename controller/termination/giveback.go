package termination

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/podspec"
	"github.com/daemok/daemok/observe"
)

// sendAgain is how long a terminated instance may still be listed as running before it is
// terminated again.
const sendAgain = time.Minute

// goneAgain is how long after a check that did not find an instance a second one has to
// miss it too: the cloud's lists may be behind, or empty for a moment.
const goneAgain = 10 * time.Second

// goneAlready reports whether a node has lost its instance, so that there is nothing to
// drain: its kubelet is silent and two checks in a row, some time apart, did not find the
// instance, or the end that the cloud announced is past and one check did not. Between two
// checks it says no, and so it does where the cloud may hide an instance that is there.
//
// It asks once a node, then after 2 s and ever later up to every 15 s: for
// 1,000 such nodes some 70 calls a second, which the adapter makes less than
// one of.
func (r *Reconciler) goneAlready(ctx context.Context, node *corev1.Node, claim *karpv1.NodeClaim) (bool, error) {
	id, endsAt := translate.InstanceID(node.Spec.ProviderID), endOf(claim)
	wasToEnd := !endsAt.IsZero() && !r.overBy().Before(endsAt)
	if translate.IsReady(node) && !wasToEnd {
		r.seen.silent.drop(id)
		return false, nil
	}
	if id == "" || r.mayBeHidden(node, claim) || r.seen.silent.wait(id, r.Now()) > 0 {
		return false, nil
	}
	r.seen.silent.note(id, r.Now())
	list, err := r.Instances.List(ctx, cloud.Filter{IDs: []string{id}})
	if err != nil {
		return false, fmt.Errorf("look for the instance of node %s: %w", node.Name, err)
	}
	if len(list) > 0 {
		r.seen.silent.found(id)
		return false, nil
	}
	return wasToEnd || r.seen.silent.missed(id, goneAgain, r.Now()), nil
}

// mayBeHidden reports whether the cloud may not list the node's instance though it runs:
// work is shifted away from its zone, or it is taken over and has no tags of ours yet.
func (r *Reconciler) mayBeHidden(node *corev1.Node, claim *karpv1.NodeClaim) bool {
	return r.Shifted != nil && r.Shifted(node.Labels[api.LabelZoneID]) || claim != nil && !translate.IsListed(claim)
}

// endPods deletes the pods that ended with the node's instance, so that their owners make
// others now: no kubelet does, and the garbage collector waits for a minute. Those of
// DaemonSets and static ones have nowhere to go.
func (r *Reconciler) endPods(ctx context.Context, node *corev1.Node) error {
	pods, err := r.podsOn(ctx, r.Store, node.Name)
	if err != nil {
		return err
	}
	var errs []error
	for i := range pods {
		if p := &pods[i]; !podspec.IsTerminal(p) && !podspec.IsMirror(p) && !podspec.IsDaemon(p) {
			errs = append(errs, r.delete(ctx, node, p, 0))
		}
	}
	return errors.Join(errs...)
}

// giveBack terminates the instance, once, and when it is gone lets the node go.
//
// Instances take 15 to 60 s to end, so that each costs one call to terminate it and some
// six to check: for 1,000 nodes at once 7,000 calls in a minute, which the adapter makes
// about 80 of. After a restart each is terminated once more.
func (r *Reconciler) giveBack(ctx context.Context, node *corev1.Node, claim *karpv1.NodeClaim) (time.Duration, error) {
	id := translate.InstanceID(node.Spec.ProviderID)
	if id == "" {
		return 0, r.forget(ctx, node, claim) // it never had an instance
	}
	if left := r.seen.ending.wait(id, r.Now()); left > 0 {
		return left, nil
	}
	next := r.seen.ending.note(id, r.Now())
	if r.seen.ending.isSent(id) {
		return r.awaitEnd(ctx, node, claim, next)
	}
	gone, err := r.Instances.Terminate(ctx, id)
	if cloud.IsNotVisible(err) {
		return next, nil // nothing was sent
	}
	if err != nil {
		r.Metrics.EndFailures.WithLabelValues(node.Labels[api.LabelZone], node.Labels[api.LabelZoneID]).Inc()
		r.Events.Publish(observe.Event{About: node, Key: "Node/" + node.Name, Warning: true,
			Reason:  "FailedTermination",
			Message: fmt.Sprintf("instance %s could not be terminated: %v", id, err), Topic: id})
		return 0, fmt.Errorf("terminate instance %s of node %s: %w", id, node.Name, err)
	}
	if slices.Contains(gone, id) {
		return 0, r.forget(ctx, node, claim)
	}
	r.seen.ending.sent(id, r.Now())
	return next, r.say(ctx, claim, karpv1.ClaimInstanceTerminating, "", "")
}

// awaitEnd lets the node go if its instance, which was terminated, is gone.
func (r *Reconciler) awaitEnd(ctx context.Context, node *corev1.Node, claim *karpv1.NodeClaim,
	next time.Duration) (time.Duration, error) {
	id := translate.InstanceID(node.Spec.ProviderID)
	list, err := r.Instances.List(ctx, cloud.Filter{IDs: []string{id}})
	switch {
	case err != nil:
		return 0, fmt.Errorf("look for instance %s of node %s: %w", id, node.Name, err)
	case len(list) == 0:
		return 0, r.forget(ctx, node, claim)
	case list[0].State != cloud.ShuttingDown:
		r.seen.ending.sendAfter(id, sendAgain, r.Now())
	}
	return next, r.say(ctx, claim, karpv1.ClaimInstanceTerminating, "", "")
}
