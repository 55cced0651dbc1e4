package translate

import (
	"cmp"
	"slices"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
)

// Repair is when nodes of the pool are repaired; never where its word is misread.
func Repair(o PoolObject) cluster.Repair {
	r, _ := mark.Repair(o.Annotations, o.Repair) // what is misread is reported on the pool
	return r
}

// Ailments lists what makes a node unhealthy by the rules, sorted by condition.
func Ailments(n *corev1.Node, claim *karpv1.NodeClaim, rules cluster.Repair) (out []cluster.Ailment) {
	for _, c := range n.Status.Conditions {
		if rules.Rule(string(c.Type), string(c.Status)) != nil {
			out = append(out, cluster.Ailment{Condition: string(c.Type), Status: string(c.Status), Since: c.LastTransitionTime.UTC()})
		}
	}
	if rules.Rule(cluster.Initialized, "False") != nil && condition.IsTrue(claim, karpv1.ClaimRegistered) && !condition.IsTrue(claim, karpv1.ClaimInitialized) {
		out = append(out, cluster.Ailment{Condition: cluster.Initialized, Status: "False", Since: condition.Get(claim, karpv1.ClaimRegistered).LastTransitionTime.UTC()})
	}
	slices.SortStableFunc(out, func(a, b cluster.Ailment) int { return cmp.Compare(a.Condition, b.Condition) })
	return out
}

// SameHealth reports whether the conditions of a node have changed neither in status
// nor in since when; heartbeats change neither.
func SameHealth(a, b *corev1.Node) bool {
	return slices.EqualFunc(a.Status.Conditions, b.Status.Conditions, func(x, y corev1.NodeCondition) bool {
		return x.Type == y.Type && x.Status == y.Status && x.LastTransitionTime.Equal(&y.LastTransitionTime)
	})
}
