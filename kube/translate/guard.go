package translate

import (
	"errors"
	"fmt"

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
		UnreadyToo: current && letsUnreadyGo(b) || b.Spec.UnhealthyPodEvictionPolicy != nil && *b.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow,
	}
	if current {
		out.Allowed = max(int64(b.Status.DisruptionsAllowed), 0)
	}
	return out
}

// letsUnreadyGo reports whether as many pods are ready as must be: then the API
// server evicts those that are not, since nothing gets worse by that (the policy
// IfHealthyBudget, which holds where none is named).
func letsUnreadyGo(b *policyv1.PodDisruptionBudget) bool {
	return b.Status.DesiredHealthy > 0 && b.Status.CurrentHealthy >= b.Status.DesiredHealthy
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

// GuardStatus is the status that a PodDisruptionBudget comes to which is about
// so many pods, of which so many are ready, as its controller would write it
// where each pod that is wanted is there.
func GuardStatus(b *policyv1.PodDisruptionBudget, ready, pods int) (policyv1.PodDisruptionBudgetStatus, error) {
	desired, err := desired(&b.Spec, pods)
	if err != nil {
		return policyv1.PodDisruptionBudgetStatus{}, err
	}
	out := policyv1.PodDisruptionBudgetStatus{
		ObservedGeneration: b.Generation, ExpectedPods: int32(pods), CurrentHealthy: int32(ready), DesiredHealthy: int32(desired),
	}
	if pods > 0 {
		out.DisruptionsAllowed = int32(max(0, ready-desired))
	}
	return out, nil
}

// desired is how many of so many pods must stay ready.
func desired(spec *policyv1.PodDisruptionBudgetSpec, pods int) (int, error) {
	scaled := func(field string, amount *intstr.IntOrString) (int, error) {
		n, err := intstr.GetScaledValueFromIntOrPercent(amount, pods, true)
		if err == nil && n < 0 {
			err = errors.New("it is below zero")
		}
		if err != nil {
			return 0, fmt.Errorf("spec.%s: %q is neither a number nor a percentage: %w", field, amount.String(), err)
		}
		return n, nil
	}
	switch {
	case spec.MaxUnavailable != nil && spec.MinAvailable != nil:
		return 0, errors.New("spec: minAvailable and maxUnavailable exclude each other")
	case spec.MaxUnavailable != nil:
		n, err := scaled("maxUnavailable", spec.MaxUnavailable)
		return max(0, pods-n), err
	case spec.MinAvailable != nil:
		return scaled("minAvailable", spec.MinAvailable)
	}
	return pods, nil
}
