package apply

import (
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
)

// Taint adds the taint that keeps new pods off a node that is to go, with the
// time it was added. It reports whether the node changed.
func Taint(node *corev1.Node, now time.Time) (changed bool) {
	if slices.ContainsFunc(node.Spec.Taints, isDisrupted) {
		return false
	}
	at := metav1.NewTime(now)
	node.Spec.Taints = append(node.Spec.Taints, corev1.Taint{Key: api.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule, TimeAdded: &at})
	return true
}

// Untaint takes it away again. It reports whether the node changed.
func Untaint(node *corev1.Node) (changed bool) {
	before := len(node.Spec.Taints)
	node.Spec.Taints = slices.DeleteFunc(node.Spec.Taints, isDisrupted)
	return len(node.Spec.Taints) != before
}

// TaintedAt is when the taint was added; where that is not recorded, long ago.
func TaintedAt(node *corev1.Node) time.Time {
	for _, t := range node.Spec.Taints {
		if isDisrupted(t) && t.TimeAdded != nil {
			return t.TimeAdded.Time
		}
	}
	return time.Time{}
}

func isDisrupted(t corev1.Taint) bool {
	return t.Key == api.TaintDisrupted && t.Effect == corev1.TaintEffectNoSchedule
}
