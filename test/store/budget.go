package store

import (
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// withinBudgets takes a disruption from the PodDisruptionBudget of a pod that runs, as the API
// server does for an eviction; Status.DisruptionsAllowed is what was last written, less what was
// taken.
func (s *Server) withinBudgets(pod *corev1.Pod) error {
	if s.blocked != nil && s.blocked(pod) {
		return apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
	}
	if pod.Status.Phase != corev1.PodRunning || pod.DeletionTimestamp != nil {
		return nil
	}
	kind := policyv1.SchemeGroupVersion.WithKind("PodDisruptionBudget")
	for _, o := range s.all(kind) {
		budget := o.DeepCopyObject().(*policyv1.PodDisruptionBudget)
		selector, err := metav1.LabelSelectorAsSelector(budget.Spec.Selector)
		if err != nil || budget.Namespace != pod.Namespace || !selector.Matches(labels.Set(pod.Labels)) {
			continue
		}
		if budget.Status.DisruptionsAllowed <= 0 {
			return apierrors.NewTooManyRequests("Cannot evict pod as it would violate the pod's disruption budget.", 0)
		}
		budget.Status.DisruptionsAllowed--
		s.put(kind, budget, modified)
	}
	return nil
}
