package translate

import (
	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemok/daemok/core/cluster"
)

// Guard converts a PodDisruptionBudget. What its status says counts only once
// it is of the budget as it is written now, as for the API server: until then
// no eviction is allowed.
func Guard(b *policyv1.PodDisruptionBudget) cluster.Guard {
	current := b.Status.ObservedGeneration >= b.Generation
	out := cluster.Guard{
		Namespace: b.Namespace, Name: b.Name,
		Never:      forbidsAll(&b.Spec) || current && b.Status.ExpectedPods > 0 && b.Status.DesiredHealthy >= b.Status.ExpectedPods,
		UnreadyToo: b.Spec.UnhealthyPodEvictionPolicy != nil && *b.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow,
	}
	if current {
		out.Allowed = max(int64(b.Status.DisruptionsAllowed), 0)
	}
	return out
}

// forbidsAll reports whether a budget forbids every eviction however many
// pods there are. One that names no amount does.
func forbidsAll(spec *policyv1.PodDisruptionBudgetSpec) bool {
	const hundred = 100
	switch {
	case spec.MaxUnavailable != nil:
		n, err := intstr.GetScaledValueFromIntOrPercent(spec.MaxUnavailable, hundred, true)
		return err != nil || n <= 0
	case spec.MinAvailable != nil && spec.MinAvailable.Type == intstr.String:
		n, err := intstr.GetScaledValueFromIntOrPercent(spec.MinAvailable, hundred, true)
		return err != nil || n >= hundred
	}
	return spec.MinAvailable == nil
}

// GuardSelector is which pods of its namespace a PodDisruptionBudget is about:
// all where the selector is empty, none where there is none, or one that
// cannot be read, as for the API server.
func GuardSelector(b *policyv1.PodDisruptionBudget) labels.Selector {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil {
		return labels.Nothing()
	}
	return selector
}
