package termination

import (
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// deadlineOf is when the drain must be over; zero where it may take any time.
func deadlineOf(claim *karpv1.NodeClaim) time.Time {
	if claim == nil {
		return time.Time{}
	}
	at, err := time.Parse(time.RFC3339, claim.Annotations[api.AnnotationTerminationTimestamp])
	if err != nil {
		return time.Time{}
	}
	return at
}

// endOf is when the cloud takes the instance away; zero: it is not known to.
func endOf(claim *karpv1.NodeClaim) time.Time {
	if claim == nil {
		return time.Time{}
	}
	return translate.EndsAt(claim)
}

// reportDeadline reports to the users a node when the pods that are still on it are
// deleted, whatever protects them.
func (r *Reconciler) reportDeadline(node *corev1.Node, deadline time.Time) {
	if deadline.IsZero() {
		return
	}
	r.Events.Publish(observe.Event{About: node, Key: "Node/" + node.Name, Warning: true,
		Reason: "TerminationGracePeriodExpiring",
		Message: fmt.Sprintf("pods that are left are deleted in time to be gone at %s",
			deadline.UTC().Format(time.RFC3339))})
}
