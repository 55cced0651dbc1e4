package drain

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/cloud"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// sendAgain is how long a machine that was given back may not show it before
// it is given back again.
const sendAgain = time.Minute

// goneAlready reports whether a node whose kubelet is silent has lost its
// machine: then there is nothing to drain. Between two looks it says no.
//
// It asks once a node, then after 2 s and ever later up to every 15 s: for
// 1,000 silent nodes some 70 calls a second, which the adapter makes less
// than one of.
func (r *Reconciler) goneAlready(ctx context.Context, node *corev1.Node) (bool, error) {
	id := translate.MachineID(node.Spec.ProviderID)
	if id == "" || translate.IsReady(node) || r.silent.wait(id, r.Now()) > 0 {
		return false, nil
	}
	r.silent.note(id, r.Now())
	list, err := r.Machines.List(ctx, cloud.Filter{IDs: []string{id}})
	if err != nil {
		return false, fmt.Errorf("look for the machine of node %s: %w", node.Name, err)
	}
	return len(list) == 0, nil
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
