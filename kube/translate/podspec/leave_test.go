package podspec

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
)

func TestDoNotDisruptOfPods(t *testing.T) {
	created := time.Date(2026, 1, 1, 12, 0, 0, 0, time.UTC)
	now := created.Add(time.Hour)
	begun := func(ago time.Duration) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Status.StartTime = &metav1.Time{Time: now.Add(-ago)} }
	}
	tests := map[string]struct {
		value  string
		change func(*corev1.Pod)
		holds  bool
		until  time.Time
		odd    string
	}{
		"true":                               {value: "true", holds: true},
		"false protects nothing":             {value: "false"},
		"a time that has not passed":         {value: "30m", change: begun(10 * time.Minute), holds: true, until: now.Add(20 * time.Minute)},
		"a time that has":                    {value: "30m", change: begun(31 * time.Minute)},
		"a time that passes now":             {value: "30m", change: begun(30 * time.Minute)},
		"no start yet: from its creation on": {value: "2h", holds: true, until: created.Add(2 * time.Hour)},
		"no time at all":                     {value: "0s"},
		"a negative time":                    {value: "-5m", odd: `"-5m"`},
		"days are not understood":            {value: "1d", odd: `"1d"`},
		"nor is yes":                         {value: "yes", odd: `"yes"`},
		"nor is nothing":                     {value: "", odd: `""`},
		"a pod that ends is not protected":   {value: "true", change: func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{Time: now} }},
		"a pod that failed is not protected": {value: "2h", change: func(p *corev1.Pod) { p.Status.Phase = corev1.PodFailed }},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{CreationTimestamp: metav1.Time{Time: created}, Annotations: map[string]string{api.AnnotationDoNotDisrupt: tt.value}}}
			if tt.change != nil {
				tt.change(p)
			}
			got := Pod(p, now, false)
			if got.DoNotDisrupt != tt.holds || !got.ProtectedUntil.Equal(tt.until) {
				t.Errorf("protected: %v until %v, want %v until %v", got.DoNotDisrupt, got.ProtectedUntil, tt.holds, tt.until)
			}
			if odd := Misprotected(p); odd != tt.odd {
				t.Errorf("not understood: %s, want %s", odd, tt.odd)
			}
		})
	}
	if odd := Misprotected(&corev1.Pod{}); odd != "" {
		t.Errorf("a pod without the annotation has %s", odd)
	}
}

func TestWhoStaysOnLeavingNodes(t *testing.T) {
	tests := map[string]struct {
		toleration corev1.Toleration
		want       bool
	}{
		"SC-260 the taint by Exists":       {corev1.Toleration{Key: api.TaintDisrupted, Operator: corev1.TolerationOpExists}, true},
		"SC-260 the taint by Equal":        {corev1.Toleration{Key: api.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule}, true},
		"another value than the taint has": {corev1.Toleration{Key: api.TaintDisrupted, Value: "x"}, false},
		"another effect":                   {corev1.Toleration{Key: api.TaintDisrupted, Effect: corev1.TaintEffectNoExecute}, false},
		"every taint":                      {corev1.Toleration{Operator: corev1.TolerationOpExists}, true},
		"SC-261 that of a cordon":          {corev1.Toleration{Key: corev1.TaintNodeUnschedulable, Operator: corev1.TolerationOpExists}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			p := &corev1.Pod{Spec: corev1.PodSpec{Tolerations: []corev1.Toleration{tt.toleration}}}
			if got := Pod(p, time.Time{}, false).Stays; got != tt.want {
				t.Errorf("stays: %v, want %v", got, tt.want)
			}
		})
	}
}

// SC-285: priority and deletion cost.
func TestWhatItCostsToMoveAPod(t *testing.T) {
	begun := metav1.Date(2026, 1, 1, 0, 0, 0, 0, time.FixedZone("there", 3600))
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Annotations: map[string]string{api.AnnotationPodDeletionCost: "-7"}}}
	p.Spec.NodeName, p.Status.StartTime, p.Status.Phase = "n", &begun, corev1.PodPending
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: corev1.ConditionFalse}}
	got := Pod(p, begun.Time, false)
	p.Status.Phase = corev1.PodRunning
	if !got.Pending || Pod(p, begun.Time, false).Pending {
		t.Errorf("pending: %v, and once it runs: %v", got.Pending, Pod(p, begun.Time, false).Pending)
	}
	if !got.StartedAt.Equal(begun.Time) || got.StartedAt.Location() != time.UTC || !got.Unready || got.DeletionCost != -7 {
		t.Errorf("the pod started at %v, is unready: %v, costs %d", got.StartedAt, got.Unready, got.DeletionCost)
	}
	p.Annotations[api.AnnotationDeletionCost] = "-7" // since its node is to empty
	if got := Pod(p, begun.Time, false); got.DeletionCost != 0 || DeletionCost(p) != -7 {
		t.Errorf("with Daemok's own deletion cost it costs %d to move, and %d among the pods of its owner; want 0 and -7", got.DeletionCost, DeletionCost(p))
	}
	p.Status.Conditions[0].Status = corev1.ConditionUnknown // of a node that is silent
	p.Annotations[api.AnnotationPodDeletionCost] = "3000000000"
	if got := Pod(p, begun.Time, false); got.Unready || got.DeletionCost != 0 {
		t.Errorf("unready: %v, costs %d; want neither", got.Unready, got.DeletionCost)
	}
}
