package termination

import (
	"context"
	"fmt"
	"slices"
	"strings"

	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// never says which PodDisruptionBudget never allows an eviction of the pod, and why; empty:
// none, or they cannot be read. The API server refuses such an eviction in the same words as
// one that is allowed soon, and where a status is not up to date and never will be it has
// clients wait for two minutes to hear that.
func (r *Reconciler) never(ctx context.Context, pod *corev1.Pod) string {
	var budgets policyv1.PodDisruptionBudgetList
	if err := r.Store.List(ctx, &budgets, client.InNamespace(pod.Namespace),
		client.UnsafeDisableDeepCopy); err != nil { // only read
		return ""
	}
	p := podspec.Pod(pod, r.Now(), r.Autoscaler)
	var over []cluster.PodDisruptionBudget
	var names []string
	for i := range budgets.Items {
		if b := &budgets.Items[i]; podspec.PDBSelector(b).Matches(labels.Set(pod.Labels)) {
			over, names = append(over, podspec.PodDisruptionBudget(b)), append(names, b.Name)
		}
	}
	slices.Sort(names)
	if p.PDBs = strings.Join(names, ","); len(over) == 0 || !p.KeptBy(only(over)) {
		return ""
	}
	return fmt.Sprintf("pod %s/%s is never evicted: %s", p.Namespace, p.Name, disruption.PDBsOf(over).Hold(&p))
}

// only is the one of them; nil where there are several.
func only(list []cluster.PodDisruptionBudget) *cluster.PodDisruptionBudget {
	if len(list) == 1 {
		return &list[0]
	}
	return nil
}
