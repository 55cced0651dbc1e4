package whole_test

import (
	"context"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/api/equality"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// pdbs makes a PodDisruptionBudget of a deployment's pods that the cluster's people keep
// up to date.
func (w *world) pdbs(app string, mayBeGone intstr.IntOrString) {
	budget := &policyv1.PodDisruptionBudget{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: app, Labels: map[string]string{keptUp: "true"}}}
	budget.Spec.Selector = &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}
	budget.Spec.MaxUnavailable = &mayBeGone
	w.create(budget)
}

// keptUp labels PodDisruptionBudgets whose status follows their pods.
const keptUp = "kept-up"

// budgets write how many pods each PodDisruptionBudget allows to be evicted now.
func (w *people) budgets(ctx context.Context) {
	var all policyv1.PodDisruptionBudgetList
	if err := w.hand.List(ctx, &all, client.MatchingLabels{keptUp: "true"}); err != nil {
		w.t.Error(err)
	}
	for i := range all.Items {
		budget := &all.Items[i]
		app := budget.Spec.Selector.MatchLabels["app"]
		healthy := int32(0)
		for _, p := range w.allPods() {
			if p.Labels["app"] == app && p.Status.Phase == corev1.PodRunning && p.DeletionTimestamp == nil {
				healthy++
			}
		}
		w.mu.Lock()
		wanted := w.deployments[app].replicas
		w.mu.Unlock()
		gone, err := intstr.GetScaledValueFromIntOrPercent(budget.Spec.MaxUnavailable, wanted, true)
		if err != nil {
			w.t.Error(err)
		}
		before := budget.DeepCopy()
		budget.Status.ObservedGeneration, budget.Status.ExpectedPods, budget.Status.CurrentHealthy = budget.Generation, int32(wanted), healthy
		budget.Status.DesiredHealthy = max(0, int32(wanted-gone))
		budget.Status.DisruptionsAllowed = max(0, healthy-budget.Status.DesiredHealthy)
		if !equality.Semantic.DeepEqual(before.Status, budget.Status) {
			_ = w.hand.Status().Patch(ctx, budget, client.MergeFrom(before))
		}
	}
}
