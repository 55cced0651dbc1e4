package podspec

import (
	"cmp"
	"errors"
	"fmt"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/util/intstr"

	"github.com/daemok/daemok/core/cluster"
)

// PodDisruptionBudget converts a PodDisruptionBudget. What its status says counts only once
// it is of the budget as it is written now, as for the API server: until then
// no eviction is allowed. Where its controller could not work out how many pods there
// are to be, that is never.
func PodDisruptionBudget(b *policyv1.PodDisruptionBudget) cluster.PodDisruptionBudget {
	current := b.Status.ObservedGeneration >= b.Generation
	why := cmp.Or(forbidsAll(&b.Spec), unsynced(b))
	if why == "" && current && b.Status.ExpectedPods > 0 && b.Status.DesiredHealthy >= b.Status.ExpectedPods {
		why = fmt.Sprintf("%s, which is %d of %d pods; lower it, or run more pods", amounts(&b.Spec), b.Status.DesiredHealthy, b.Status.ExpectedPods)
	}
	out := cluster.PodDisruptionBudget{
		Namespace: b.Namespace, Name: b.Name, Never: why != "", Why: why,
		UnreadyToo: current && letsUnreadyGo(b) || b.Spec.UnhealthyPodEvictionPolicy != nil && *b.Spec.UnhealthyPodEvictionPolicy == policyv1.AlwaysAllow,
	}
	if current {
		out.Allowed = max(int64(b.Status.DisruptionsAllowed), 0)
	}
	return out
}

// amounts is what the budget says of how many.
func amounts(spec *policyv1.PodDisruptionBudgetSpec) string {
	if spec.MaxUnavailable != nil {
		return "maxUnavailable is " + spec.MaxUnavailable.String()
	}
	return "minAvailable is " + spec.MinAvailable.String()
}

// unsynced says that the status could not be worked out, and why; empty: it could.
func unsynced(b *policyv1.PodDisruptionBudget) string {
	at := slices.IndexFunc(b.Status.Conditions, isUnsynced)
	if at < 0 {
		return ""
	}
	out := "its condition DisruptionAllowed says that the sync failed"
	if message := b.Status.Conditions[at].Message; message != "" {
		out += " (" + message + ")"
	}
	if b.Spec.MinAvailable == nil || b.Spec.MinAvailable.Type == intstr.String {
		out += "; for pods whose controller cannot be scaled, such as those of Jobs, or that have none, set minAvailable to a number"
	}
	return out
}

func isUnsynced(c metav1.Condition) bool {
	return c.Type == policyv1.DisruptionAllowedCondition && c.Reason == policyv1.SyncFailedReason && c.Status != metav1.ConditionTrue
}

// StripPDB drops of a PodDisruptionBudget what PodDisruptionBudget does not read.
func StripPDB(b *policyv1.PodDisruptionBudget) {
	b.Annotations, b.Status.DisruptedPods = nil, nil
	b.Status.Conditions = slices.DeleteFunc(b.Status.Conditions, func(c metav1.Condition) bool { return !isUnsynced(c) })
	if len(b.Status.Conditions) == 0 {
		b.Status.Conditions = nil
	}
}

// letsUnreadyGo reports whether as many pods are ready as must be: then the API
// server evicts those that are not, since nothing gets worse by that (the policy
// IfHealthyBudget, which holds where none is named).
func letsUnreadyGo(b *policyv1.PodDisruptionBudget) bool {
	return b.Status.DesiredHealthy > 0 && b.Status.CurrentHealthy >= b.Status.DesiredHealthy
}

// forbidsAll says why a budget forbids every eviction however many pods there
// are; empty: it does not. One that names no amount does.
func forbidsAll(spec *policyv1.PodDisruptionBudgetSpec) string {
	const hundred = 100
	amount, field := cmp.Or(spec.MaxUnavailable, spec.MinAvailable), "minAvailable"
	if spec.MaxUnavailable != nil {
		field = "maxUnavailable"
	}
	if amount == nil {
		return "it has neither minAvailable nor maxUnavailable; set one of them"
	}
	n, err := intstr.GetScaledValueFromIntOrPercent(amount, hundred, true)
	switch {
	case err != nil:
		return fmt.Sprintf("%s %q is neither a number nor a percentage", field, amount.String())
	case spec.MaxUnavailable != nil && n <= 0:
		return amounts(spec) + "; raise it"
	case spec.MaxUnavailable == nil && amount.Type == intstr.String && n >= hundred:
		return amounts(spec) + "; lower it"
	}
	return ""
}

// PDBSelector is which pods of its namespace a PodDisruptionBudget is about:
// all where the selector is empty, none where there is none, or one that
// cannot be read, as for the API server.
func PDBSelector(b *policyv1.PodDisruptionBudget) labels.Selector {
	selector, err := metav1.LabelSelectorAsSelector(b.Spec.Selector)
	if err != nil {
		return labels.Nothing()
	}
	return selector
}

// PDBStatus is the status that a PodDisruptionBudget comes to which is about
// so many pods, of which so many are ready, as its controller would write it
// where each pod that is wanted is there.
func PDBStatus(b *policyv1.PodDisruptionBudget, ready, pods int) (policyv1.PodDisruptionBudgetStatus, error) {
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
