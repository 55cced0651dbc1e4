package commitments

import (
	"strings"
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
)

// What cannot be read says so, and leaves what was listed before, until the ConfigMap is corrected or deleted.
func TestWhatCannotBeReadLosesNothing(t *testing.T) {
	table := Table{In: "kube-system"}
	c := &corev1.ConfigMap{ObjectMeta: metav1.ObjectMeta{Namespace: "other", Name: api.ConfigMapCommitments}}
	c.Data = map[string]string{api.CommitmentsFile: "savingsPlans: [{id: a, commitment: 1}]"}
	if table.Seen(c) || table.Odd() != "" {
		t.Errorf("a ConfigMap of another namespace counts: %q", table.Odd())
	}
	c.Namespace = "kube-system"
	if table.Seen(c) || !strings.HasSuffix(table.Odd(), "until it is corrected, plans use no commitments") {
		t.Errorf("odd is %q, want that no commitments are used", table.Odd())
	}
	good := c.DeepCopy()
	good.Data[api.CommitmentsFile] = "savingsPlans: [{id: a, commitment: 1, discount: 20%}]"
	if !table.Seen(good) || table.Seen(good) || table.Odd() != "" || len(table.Now().Plans) != 1 {
		t.Errorf("commitments are %+v, %q; want a change where they are new alone", table.Now(), table.Odd())
	}
	changed := table.Seen(c)
	kept := strings.HasSuffix(table.Odd(), "plans use what it listed before")
	if changed || !kept || len(table.Now().Plans) != 1 {
		t.Errorf("commitments are %+v, %q; want those before", table.Now(), table.Odd())
	}
	gone := table.Gone(c)
	if left := table.Now(); !gone || left.Any() || table.Odd() != "" {
		t.Errorf("commitments are %+v, %q once the ConfigMap is gone", table.Now(), table.Odd())
	}
}
