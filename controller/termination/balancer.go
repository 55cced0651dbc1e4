package termination

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// close keeps new pods and load balancers off the node.
func (r *Reconciler) close(ctx context.Context, node *corev1.Node) error {
	before := node.DeepCopy()
	tainted, excluded := apply.Taint(node, r.Now()), exclude(node, r.Now())
	if tainted || excluded {
		if err := r.Store.Patch(ctx, node,
			client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return fmt.Errorf("taint node %s before its drain: %w", node.Name, err)
		}
		r.Log.Info("tainted node", "node", node.Name, "pool", translate.PoolCalled(node.Labels), "taint",
			api.TaintDisrupted)
	}
	return nil
}

// exclude labels the node so that load balancers leave it out, and records when.
func exclude(node *corev1.Node, now time.Time) (changed bool) {
	if _, there := node.Labels[api.LabelExcludeFromBalancer]; !there {
		changed = true
		if node.Labels == nil {
			node.Labels = map[string]string{}
		}
		node.Labels[api.LabelExcludeFromBalancer] = api.ExcludedBy
	}
	if excludedAt(node).IsZero() {
		changed = true
		if node.Annotations == nil {
			node.Annotations = map[string]string{}
		}
		node.Annotations[api.AnnotationExcluded] = now.UTC().Format(time.RFC3339Nano)
	}
	return changed
}

// excludedAt is when the node was labelled for load balancers; zero: it is not known.
func excludedAt(node *corev1.Node) time.Time {
	at, err := time.Parse(time.RFC3339, node.Annotations[api.AnnotationExcluded])
	if err != nil {
		return time.Time{}
	}
	return at
}

// stillSent is how long load balancers may go on sending to the node, which the
// annotations say they do.
func (r *Reconciler) stillSent(node *corev1.Node, annotations map[string]string) time.Duration {
	delay, _ := mark.DeregistrationDelay(annotations) // what is misread is reported when it is seen
	if delay == 0 {
		return 0
	}
	return max(excludedAt(node).Add(delay).Sub(r.Now()), 0)
}

// awaitBalancers keeps the instance of an empty node while load balancers may send to it,
// as its pool says, up to the deadline. What they send goes on to pods elsewhere.
func (r *Reconciler) awaitBalancers(d *departure) time.Duration {
	left := r.stillSent(d.node, d.pool)
	if !d.deadline.IsZero() {
		left = min(left, d.deadline.Sub(r.Now()))
	}
	if left <= 0 {
		return 0
	}
	r.reportWait(d.node, "instance",
		fmt.Sprintf("the instance stays until load balancers have deregistered it, at %s",
			r.Now().Add(left).UTC().Format(time.RFC3339)))
	return left
}

// reportWait says what a drain waits for that was asked for by an annotation.
func (r *Reconciler) reportWait(node *corev1.Node, topic, message string) {
	r.Events.Publish(observe.Event{About: node, Key: "Node/" + node.Name, Reason: "DrainWaiting", Message: message,
		Topic: topic})
}
