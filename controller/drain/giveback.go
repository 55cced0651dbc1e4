package drain

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
	"github.com/daemok/daemok/observe"
)

// sendAgain is how long a machine that was given back may not show it before
// it is given back again.
const sendAgain = time.Minute

// goneAlready reports whether a node has lost its machine, whose kubelet is
// silent or whose end is past: then there is nothing to drain. Between two looks
// it says no.
//
// It asks once a node, then after 2 s and ever later up to every 15 s: for
// 1,000 such nodes some 70 calls a second, which the adapter makes less than
// one of.
func (r *Reconciler) goneAlready(ctx context.Context, node *corev1.Node, endsAt time.Time) (bool, error) {
	id := translate.MachineID(node.Spec.ProviderID)
	runs := translate.IsReady(node) && (endsAt.IsZero() || r.Now().Before(endsAt))
	if id == "" || runs || r.silent.wait(id, r.Now()) > 0 {
		return false, nil
	}
	r.silent.note(id, r.Now())
	list, err := r.Machines.List(ctx, cloud.Filter{IDs: []string{id}})
	if err != nil {
		return false, fmt.Errorf("look for the machine of node %s: %w", node.Name, err)
	}
	return len(list) == 0, nil
}

// endPods deletes the pods that ended with the node's machine, so that their owners make
// others now: no kubelet does, and the garbage collector waits for a minute. Those of
// DaemonSets and static ones have nowhere to go.
func (r *Reconciler) endPods(ctx context.Context, node *corev1.Node) error {
	pods, err := r.podsOn(ctx, r.Store, node.Name)
	if err != nil {
		return err
	}
	var errs []error
	for i := range pods {
		if p := &pods[i]; !translate.IsTerminal(p) && !translate.IsMirror(p) && !translate.IsDaemon(p) {
			errs = append(errs, r.delete(ctx, node, p, 0))
		}
	}
	return errors.Join(errs...)
}

// giveBack ends the machine, once, and when it is gone lets the node go.
//
// Machines take 15 to 60 s to end, so that each costs one call to end it and
// some six to look: for 1,000 nodes at once 7,000 calls in a minute, which the
// adapter makes about 80 of. After a restart each is ended once more.
func (r *Reconciler) giveBack(ctx context.Context, node *corev1.Node, claim *karpv1.NodeClaim) (time.Duration, error) {
	id := translate.MachineID(node.Spec.ProviderID)
	if id == "" {
		return 0, r.forget(ctx, node, claim) // it never had a machine
	}
	if left := r.ending.wait(id, r.Now()); left > 0 {
		return left, nil
	}
	next := r.ending.note(id, r.Now())
	if r.ending.isSent(id) {
		return r.awaitEnd(ctx, node, claim, next)
	}
	gone, err := r.Machines.Terminate(ctx, id)
	if err != nil {
		r.Metrics.EndFailures.WithLabelValues(node.Labels[api.LabelZone], node.Labels[api.LabelZoneID]).Inc()
		r.Events.Publish(observe.Event{About: node, Key: "Node/" + node.Name, Warning: true, Reason: "FailedTermination",
			Message: fmt.Sprintf("machine %s could not be given back: %v", id, err), Topic: id})
		return 0, fmt.Errorf("give back machine %s of node %s: %w", id, node.Name, err)
	}
	if slices.Contains(gone, id) {
		return 0, r.forget(ctx, node, claim)
	}
	r.ending.sent(id, r.Now())
	return next, r.say(ctx, claim, karpv1.ClaimInstanceTerminating, "", "")
}

// awaitEnd lets the node go if its machine, which was given back, is gone.
func (r *Reconciler) awaitEnd(ctx context.Context, node *corev1.Node, claim *karpv1.NodeClaim, next time.Duration) (time.Duration, error) {
	id := translate.MachineID(node.Spec.ProviderID)
	list, err := r.Machines.List(ctx, cloud.Filter{IDs: []string{id}})
	switch {
	case err != nil:
		return 0, fmt.Errorf("look for machine %s of node %s: %w", id, node.Name, err)
	case len(list) == 0:
		return 0, r.forget(ctx, node, claim)
	case list[0].State != cloud.ShuttingDown:
		r.ending.sendAfter(id, sendAgain, r.Now())
	}
	return next, r.say(ctx, claim, karpv1.ClaimInstanceTerminating, "", "")
}
