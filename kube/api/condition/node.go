package condition

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// OfNode returns a node's conditions in the form of all others.
func OfNode(list []corev1.NodeCondition) []metav1.Condition {
	out := make([]metav1.Condition, 0, len(list))
	for _, c := range list {
		out = append(out, metav1.Condition{
			Type: string(c.Type), Status: metav1.ConditionStatus(c.Status),
			Reason: c.Reason, LastTransitionTime: c.LastTransitionTime,
		})
	}
	return out
}
