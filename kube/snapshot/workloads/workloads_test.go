package workloads

import (
	"testing"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/snapshot/owner"
)

func replicaSet(replicas int32, app string) *appsv1.ReplicaSet {
	return &appsv1.ReplicaSet{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"},
		Spec: appsv1.ReplicaSetSpec{Replicas: &replicas, Selector: &metav1.LabelSelector{MatchLabels: map[string]string{"app": app}}}}
}

// An owner says what of it has changed.
func TestAnOwnerReportsWhatHasChanged(t *testing.T) {
	table := New()
	first := table.Seen(replicaSet(1, "web"))
	if first.ID != (owner.ID{Namespace: "default", Kind: "ReplicaSet", Name: "web"}) || first.Known || !first.SelectsOthers() {
		t.Errorf("the first change is %+v", first)
	}
	if same := table.Seen(replicaSet(1, "web")); !same.IsNone() {
		t.Errorf("one that says the same is the change %+v", same)
	}
	if more := table.Seen(replicaSet(2, "web")); more.SelectsOthers() || more.IsNone() || more.Now.Wants() != 2 {
		t.Errorf("one that wants more is the change %+v", more)
	}
	if others := table.Seen(replicaSet(2, "db")); !others.SelectsOthers() {
		t.Errorf("one that selects others is the change %+v", others)
	}
	if gone := table.Gone(replicaSet(2, "db")); gone.IsThere || !gone.ReturnsOthers() {
		t.Errorf("one that is gone is the change %+v", gone)
	}
	done := &batchv1.Job{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "once"}, Status: batchv1.JobStatus{Conditions: []batchv1.JobCondition{{Type: batchv1.JobComplete, Status: "True"}}}}
	if c := table.Seen(done); c.IsThere {
		t.Errorf("a Job that is done is the change %+v, want it as good as gone", c)
	}
}

// Services are found by the labels of a pod.
func TestServicesSelectPods(t *testing.T) {
	table := New()
	s := &corev1.Service{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "web"}, Spec: corev1.ServiceSpec{Selector: map[string]string{"app": "web", "tier": "front"}}}
	if !table.ServiceSeen(s) || table.ServiceSeen(s.DeepCopy()) {
		t.Error("want a change where it is new, and none where it selects the same")
	}
	for tier, want := range map[string]int{"front": 1, "back": 0} {
		if got := table.Services("default", map[string]string{"app": "web", "tier": tier}); len(got) != want {
			t.Errorf("%v select pods of the %s, want %d", got, tier, want)
		}
	}
	if !table.ServiceGone(s) || len(table.Services("default", s.Spec.Selector)) != 0 {
		t.Error("a Service that is gone selects pods")
	}
}
