package steering

import (
	"math"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
)

var noon = time.Date(2026, 11, 28, 12, 0, 0, 0, time.UTC)

func TestTheTaintOfNodesThatAreToEmpty(t *testing.T) {
	ours := corev1.Taint{Key: api.TaintEmptying, Effect: corev1.TaintEffectPreferNoSchedule}
	tests := map[string]struct {
		have         []corev1.Taint
		taints       bool // Taint changes it
		untaints     bool // Untaint does
		foundAsUsers bool
	}{
		"none":                                   {nil, true, false, false},
		"another one":                            {[]corev1.Taint{{Key: "dedicated", Effect: corev1.TaintEffectNoSchedule}}, true, false, false},
		"ours":                                   {[]corev1.Taint{ours}, false, true, false},
		"a user's with another effect":           {[]corev1.Taint{{Key: api.TaintEmptying, Effect: corev1.TaintEffectNoSchedule}}, false, false, true},
		"a user's with a value":                  {[]corev1.Taint{{Key: api.TaintEmptying, Value: "soon", Effect: corev1.TaintEffectPreferNoSchedule}}, false, false, true},
		"ours, and a user's with another effect": {[]corev1.Taint{ours, {Key: api.TaintEmptying, Effect: corev1.TaintEffectNoExecute}}, false, true, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			node := &corev1.Node{Spec: corev1.NodeSpec{Taints: tt.have}}
			if _, found := UsersTaint(node); found != tt.foundAsUsers {
				t.Errorf("a user's: %v, want %v", found, tt.foundAsUsers)
			}
			tainted := node.DeepCopy()
			if got := Taint(tainted, noon); got != tt.taints || got && (!IsTainted(tainted) || !Since(tainted).Equal(noon) || len(tainted.Spec.Taints) != len(tt.have)+1) {
				t.Errorf("Taint = %v, want %v, and then %v", got, tt.taints, tainted.Spec.Taints)
			}
			untainted := node.DeepCopy()
			if got := Untaint(untainted); got != tt.untaints || IsTainted(untainted) || got && len(untainted.Spec.Taints) != len(tt.have)-1 {
				t.Errorf("Untaint = %v, want %v, and then %v", got, tt.untaints, untainted.Spec.Taints)
			}
		})
	}
}

func TestDeletionCosts(t *testing.T) {
	const cost, noted = api.AnnotationPodDeletionCost, api.AnnotationDeletionCost
	tests := map[string]struct {
		have         map[string]string
		ours, users  bool
		set, cleared string // the cost once -7 was set, and once it was cleared
	}{
		"none":                                {nil, false, false, "-7", ""},
		"ours":                                {map[string]string{cost: "-9", noted: "-9"}, true, false, "-7", ""},
		"ours, and the same":                  {map[string]string{cost: "-7", noted: "-7"}, true, false, "-7", ""},
		"a user's":                            {map[string]string{cost: "5"}, false, true, "5", "5"},
		"a user's that is the least there is": {map[string]string{cost: "-2147483648"}, false, true, "-2147483648", "-2147483648"},
		"a user's that is the most there is":  {map[string]string{cost: "2147483647"}, false, true, "2147483647", "2147483647"},
		"a user's that is too much":           {map[string]string{cost: "2147483648"}, false, true, "2147483648", "2147483648"},
		"a user's that is no number":          {map[string]string{cost: "cheap"}, false, true, "cheap", "cheap"},
		"a user's in place of ours":           {map[string]string{cost: "5", noted: "-9"}, false, true, "5", "5"},
		"ours, which a user took away":        {map[string]string{noted: "-9"}, false, false, "-7", ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: tt.have}}
			if _, ours := Cost(pod); ours != tt.ours || HasUsersCost(pod) != tt.users {
				t.Errorf("ours: %v, a user's: %v; want %v and %v", ours, HasUsersCost(pod), tt.ours, tt.users)
			}
			after := pod.DeepCopy()
			if changed := SetCost(after, -7); changed != (tt.have[cost] != tt.set) || after.Annotations[cost] != tt.set {
				t.Errorf("set: %v, %q, want %q", changed, after.Annotations, tt.set)
			}
			after = pod.DeepCopy()
			_, was := tt.have[noted]
			if changed := ClearCost(after); changed != was || after.Annotations[cost] != tt.cleared || after.Annotations[noted] != "" {
				t.Errorf("cleared: %v, %q, want %q", changed, after.Annotations, tt.cleared)
			}
		})
	}
}

// The core and the API write the taint alike.
func TestTheTaintIsTheOneThatTheCoreKnows(t *testing.T) {
	is := cluster.Emptying()
	if is.Key != api.TaintEmptying || is.Value != "" || string(is.Effect) != string(corev1.TaintEffectPreferNoSchedule) {
		t.Errorf("the core has %v, want %s:PreferNoSchedule", is, api.TaintEmptying)
	}
}

// Every cost that there may be can be given and is known again.
func TestTheLimitsOfCosts(t *testing.T) {
	for _, cost := range []int32{math.MinInt32, 0, math.MaxInt32} {
		pod := &corev1.Pod{}
		if SetCost(pod, cost); pod.Annotations[api.AnnotationPodDeletionCost] == "" {
			t.Errorf("%d was not set", cost)
		}
		if got, ours := Cost(pod); got != cost || !ours {
			t.Errorf("Cost = %d, %v, want %d of ours", got, ours, cost)
		}
	}
}
