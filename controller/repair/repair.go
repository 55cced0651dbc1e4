// Package repair replaces nodes that have been unhealthy for too long.
//
// It promises to check the API server once more before it acts, not to wait for the pods of such a
// node, and to report why where it does nothing. core/disruption decides which nodes these are.
package repair

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

const (
	// checkEvery is how soon a node that has just become unhealthy is known to be.
	checkEvery = 30 * time.Second
	// blockedEvery is how often it is said that a node is not repaired.
	blockedEvery = 15 * time.Minute
)

type publisher interface{ Publish(observe.Event) }

// Repairer is the loop.
type Repairer struct {
	Store    client.Client
	Live     client.Reader // reads past every cache
	Snapshot func() *cluster.Snapshot
	Events   publisher
	Metrics  *observe.Metrics
	Log      *slog.Logger
	Now      func() time.Time
}

// Round repairs what is due, and returns when to check again.
func (r *Repairer) Round(ctx context.Context) (time.Duration, error) {
	list, next := disruption.Repairs(r.Snapshot())
	var errs []error
	for i := range list {
		errs = append(errs, r.repair(ctx, &list[i]))
	}
	wait := checkEvery
	if left := next.Sub(r.Now()); !next.IsZero() && left < wait {
		wait = max(left, time.Second)
	}
	return wait, errors.Join(errs...)
}

// repair lets one node go, unless it is well again or goes as fast as it can. The
// claim is deleted first: should the controller die then, the node drains politely
// until the next one sees that it is still unhealthy.
func (r *Repairer) repair(ctx context.Context, due *disruption.Repair) error {
	from, claim, node := r.Live, &karpv1.NodeClaim{}, &corev1.Node{}
	if due.Held != "" {
		from = r.Store // these may be many, and nothing is done to them
	}
	if err := from.Get(ctx, client.ObjectKey{Name: due.Claim}, claim); err != nil {
		return about(due, "read", err)
	}
	if err := from.Get(ctx, client.ObjectKey{Name: due.Node}, node); err != nil {
		return about(due, "read", err)
	}
	if !r.stillSick(node, claim, due) || r.isHastened(claim) {
		return nil
	}
	if due.Held != "" {
		r.report(node, claim, "NodeRepairBlocked", "The node is unhealthy and not repaired: "+due.String())
		return nil
	}
	leaves := claim.DeletionTimestamp != nil
	if !leaves {
		if err := r.Store.Delete(ctx, claim, client.Preconditions{UID: &claim.UID}); err != nil {
			return about(due, "delete", err)
		}
		r.count(claim, due)
		r.report(node, claim, "NodeRepair", "The node is repaired: "+due.String())
	}
	if err := r.hasten(ctx, claim); err != nil {
		return about(due, "end the drain of", err)
	}
	r.Log.Info("repairing a node: its nodeclaim is deleted without waiting for its pods", "claim", claim.Name, "node", node.Name,
		"condition", due.Ailment.Condition, "status", due.Ailment.Status, "since", due.Ailment.Since, "leftAlready", leaves)
	return nil
}

// about names what was done to whose claim; one that is gone is no error.
func about(due *disruption.Repair, doing string, err error) error {
	if client.IgnoreNotFound(err) == nil {
		return nil
	}
	return fmt.Errorf("%s claim %s to repair node %s: %w", doing, due.Claim, due.Node, err)
}

// stillSick asks what was read last whether the node has been so all the while.
func (r *Repairer) stillSick(node *corev1.Node, claim *karpv1.NodeClaim, due *disruption.Repair) bool {
	for _, a := range translate.Ailments(node, claim, cluster.Repair{Rules: []cluster.RepairRule{due.Rule}}) {
		if !a.Since.Add(due.Rule.After).After(r.Now()) {
			return node.Spec.ProviderID == claim.Status.ProviderID
		}
	}
	return false
}

// isHastened reports whether the claim is leaving and its drain is over by the clock.
func (r *Repairer) isHastened(claim *karpv1.NodeClaim) bool {
	at, err := time.Parse(time.RFC3339, claim.Annotations[api.AnnotationTerminationTimestamp])
	return claim.DeletionTimestamp != nil && err == nil && !at.After(r.Now())
}

// hasten ends the time that the drain has.
func (r *Repairer) hasten(ctx context.Context, claim *karpv1.NodeClaim) error {
	before := claim.DeepCopy()
	if claim.Annotations == nil {
		claim.Annotations = map[string]string{}
	}
	claim.Annotations[api.AnnotationTerminationTimestamp] = r.Now().UTC().Format(time.RFC3339)
	return r.Store.Patch(ctx, claim, client.MergeFrom(before))
}

func (r *Repairer) count(claim *karpv1.NodeClaim, due *disruption.Repair) {
	pool, option := translate.PoolCalled(claim.Labels), claim.Labels[api.LabelCapacityType]
	r.Metrics.ClaimsUnhealthy.WithLabelValues(due.Ailment.Condition, pool, option, claim.Status.ImageID).Inc()
	r.Metrics.Disrupted(observe.Disruption{Reason: "unhealthy", Pool: pool, Option: option, Mode: translate.Forceful, Node: claim.Status.NodeName})
}

// report publishes an event on the node and its claim.
func (r *Repairer) report(node *corev1.Node, claim *karpv1.NodeClaim, reason, message string) {
	r.Events.Publish(observe.Event{About: node, Key: "Node/" + node.Name, Warning: true, Reason: reason, Message: message, Topic: "repair", DedupeFor: blockedEvery})
	r.Events.Publish(observe.Event{About: claim, Key: "NodeClaim/" + claim.Name, Warning: true, Reason: reason, Message: message, Topic: "repair", DedupeFor: blockedEvery})
}
