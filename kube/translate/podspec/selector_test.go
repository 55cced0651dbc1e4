package podspec

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// SC-130: kube-scheduler places no pod whose selector it cannot read; nor do we launch an instance
// for it, and say which selector it is.
func TestASelectorThatCannotBeReadIsReported(t *testing.T) {
	odd := &metav1.LabelSelector{MatchExpressions: []metav1.LabelSelectorRequirement{{Key: "app", Operator: "Likes", Values: []string{"web"}}}}
	tests := map[string]struct {
		spec corev1.PodSpec
		want string
	}{
		"of a spread": {corev1.PodSpec{TopologySpreadConstraints: []corev1.TopologySpreadConstraint{{TopologyKey: "zone", MaxSkew: 1, LabelSelector: odd}}},
			"topologySpreadConstraints[0].labelSelector"},
		"of a neighbour": {corev1.PodSpec{Affinity: &corev1.Affinity{PodAffinity: &corev1.PodAffinity{
			RequiredDuringSchedulingIgnoredDuringExecution: []corev1.PodAffinityTerm{{TopologyKey: "zone", LabelSelector: odd}}}}},
			"labelSelector"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := shapeOf(RulesOf(&corev1.Pod{Spec: tt.spec})).Unable; !strings.Contains(got, tt.want) {
				t.Errorf("Unable = %q, want %q in it", got, tt.want)
			}
		})
	}
}
