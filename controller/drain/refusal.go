package drain

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
	"github.com/daemok/daemok/core/retire"
	"github.com/daemok/daemok/kube/translate"
)

// refusal says what the API server said of an eviction. It says the same where one is
// allowed soon and where none ever is: which PodDisruptionBudget never allows one, and why,
// is said instead. Where budgets cannot be read nothing is added.
func (r *Reconciler) refusal(ctx context.Context, pod *corev1.Pod, refused error) string {
	var budgets policyv1.PodDisruptionBudgetList
	if err := r.Store.List(ctx, &budgets, client.InNamespace(pod.Namespace)); err == nil {
		p := translate.Pod(pod, r.Now())
		var over []cluster.Guard
		var names []string
		for i := range budgets.Items {
			if b := &budgets.Items[i]; translate.GuardSelector(b).Matches(labels.Set(pod.Labels)) {
				over, names = append(over, translate.Guard(b)), append(names, b.Name)
			}
		}
		slices.Sort(names)
		if p.Guards = strings.Join(names, ","); len(over) > 0 && p.KeptBy(only(over)) {
			return fmt.Sprintf("pod %s/%s is never evicted: %s", p.Namespace, p.Name, retire.GuardsOf(over).Hold(&p))
		}
	}
	return fmt.Sprintf("pod %s/%s may not be evicted now: %v", pod.Namespace, pod.Name, refused)
}

// only is the one of them; nil where there are several.
func only(list []cluster.Guard) *cluster.Guard {
	if len(list) == 1 {
		return &list[0]
	}
	return nil
}
