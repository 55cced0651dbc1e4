package nodepool

import (
	"testing"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// TestHealthOutlivesARestart: what the condition says counts until this process has seen an
// instance join or fail, and not for a pool changed since.
func TestHealthOutlivesARestart(t *testing.T) {
	tests := map[string]struct {
		status     metav1.ConditionStatus
		generation int64
		want       metav1.ConditionStatus
	}{
		"machines joined":                  {metav1.ConditionTrue, 1, metav1.ConditionTrue},
		"machines did not join":            {metav1.ConditionFalse, 1, metav1.ConditionFalse},
		"nothing was known":                {metav1.ConditionUnknown, 1, metav1.ConditionUnknown},
		"it was about an older generation": {metav1.ConditionFalse, 2, metav1.ConditionUnknown},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := pool()
			p.Generation = 1
			condition.Set(p, karpv1.NodePoolRegistrationHealthy, tt.status, "Before", "", start)
			p.Generation = tt.generation
			got, _ := reconcile(t, p, ready, nil)
			c := condition.Get(got, karpv1.NodePoolRegistrationHealthy)
			if c.Status != tt.want || c.Message == "" && c.Status == metav1.ConditionUnknown {
				t.Errorf("after the restart the condition is %s: %q, want %s, and words where it is unknown",
					c.Status, c.Message, tt.want)
			}
		})
	}
}
