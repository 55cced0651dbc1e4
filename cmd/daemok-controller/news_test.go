package main

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/event"

	"github.com/daemok/daemok/kube/snapshot/strip"
)

// Kubelets write their nodes' statuses all the time: loops examine those that say something new.
func TestHeartbeatsLeadToNoLook(t *testing.T) {
	began := time.Date(2026, 11, 20, 12, 0, 0, 0, time.UTC)
	node := func(version string, change func(*corev1.Node)) *corev1.Node {
		n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: "n1", ResourceVersion: version}}
		n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.NewTime(began), LastHeartbeatTime: metav1.NewTime(began)}}
		change(n)
		return n
	}
	for name, tt := range map[string]struct {
		version string
		change  func(*corev1.Node)
		want    bool
	}{
		"a heartbeat": {"2", func(n *corev1.Node) {
			n.Status.Conditions[0].LastHeartbeatTime = metav1.NewTime(began.Add(5 * time.Minute))
		}, false},
		"a look at everything":     {"1", func(*corev1.Node) {}, true},
		"a node that is not ready": {"2", func(n *corev1.Node) { n.Status.Conditions[0].Status = corev1.ConditionFalse }, true},
		"one that was not in between": {"2", func(n *corev1.Node) {
			n.Status.Conditions[0].LastTransitionTime = metav1.NewTime(began.Add(time.Minute))
		}, true},
		"one with another label":    {"2", func(n *corev1.Node) { n.Labels = map[string]string{"a": "b"} }, true},
		"one that is being deleted": {"2", func(n *corev1.Node) { n.DeletionTimestamp = &metav1.Time{Time: began} }, true},
	} {
		t.Run(name, func(t *testing.T) {
			var seen [2]client.Object
			for i, n := range []*corev1.Node{node("1", func(*corev1.Node) {}), node(tt.version, tt.change)} {
				o, err := strip.Sharing()(n)
				if err != nil {
					t.Fatal(err)
				}
				seen[i] = o.(client.Object)
			}
			if got := news().Update(event.UpdateEvent{ObjectOld: seen[0], ObjectNew: seen[1]}); got != tt.want {
				t.Errorf("it leads to a look: %v, want %v", got, tt.want)
			}
		})
	}
	if !news().Update(event.UpdateEvent{ObjectOld: &corev1.Pod{}, ObjectNew: &corev1.Pod{}}) {
		t.Error("a pod leads to no look")
	}
}
