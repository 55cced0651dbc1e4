package translate

import (
	"reflect"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// Ailments are the conditions that a rule is about, by kind and status; a node that has
// registered and is not initialized has that one too.
func TestAilments(t *testing.T) {
	at := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
	rules := cluster.Repair{Rules: []cluster.RepairRule{
		{Condition: cluster.Initialized, Status: "False", After: time.Hour}, {Condition: "KernelDeadlock", Status: "True", After: time.Hour}, {Condition: "Ready", Status: "Unknown", After: time.Hour}}}
	node := &corev1.Node{}
	for kind, status := range map[corev1.NodeConditionType]corev1.ConditionStatus{"Ready": "Unknown", "KernelDeadlock": "True", "StorageReady": "False", "MemoryPressure": "False"} {
		node.Status.Conditions = append(node.Status.Conditions, corev1.NodeCondition{Type: kind, Status: status, LastTransitionTime: metav1.NewTime(at)})
	}
	tests := map[string]struct {
		claim []string // conditions that it has had since an hour later
		want  []cluster.Ailment
	}{
		"of a node that has started": {[]string{karpv1.ClaimRegistered, karpv1.ClaimInitialized}, []cluster.Ailment{{Condition: "KernelDeadlock", Status: "True", Since: at}, {Condition: "Ready", Status: "Unknown", Since: at}}},
		"of one that is starting": {[]string{karpv1.ClaimRegistered}, []cluster.Ailment{{Condition: cluster.Initialized, Status: "False", Since: at.Add(time.Hour)},
			{Condition: "KernelDeadlock", Status: "True", Since: at}, {Condition: "Ready", Status: "Unknown", Since: at}}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			claim := &karpv1.NodeClaim{}
			for _, kind := range tt.claim {
				condition.SetTrue(claim, kind, at.Add(time.Hour))
			}
			if got := Ailments(node, claim, rules); !reflect.DeepEqual(got, tt.want) {
				t.Errorf("Ailments = %+v, want %+v", got, tt.want)
			}
		})
	}
}

// A heartbeat is no change of a node's health; a condition that went and came back is.
func TestSameHealth(t *testing.T) {
	at := metav1.Now()
	of := func(change func(*corev1.NodeCondition)) *corev1.Node {
		c := corev1.NodeCondition{Type: "Ready", Status: "True", LastTransitionTime: at, LastHeartbeatTime: at, Message: "ok"}
		change(&c)
		return &corev1.Node{Status: corev1.NodeStatus{Conditions: []corev1.NodeCondition{c}}}
	}
	tests := map[string]struct {
		change func(*corev1.NodeCondition)
		same   bool
	}{
		"a heartbeat": {func(c *corev1.NodeCondition) {
			c.LastHeartbeatTime, c.Message = metav1.NewTime(at.Add(time.Minute)), "fine"
		}, true},
		"a status":     {func(c *corev1.NodeCondition) { c.Status = "False" }, false},
		"since when":   {func(c *corev1.NodeCondition) { c.LastTransitionTime = metav1.NewTime(at.Add(time.Minute)) }, false},
		"another kind": {func(c *corev1.NodeCondition) { c.Type = "Reedy" }, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := SameHealth(of(func(*corev1.NodeCondition) {}), of(tt.change)); got != tt.same {
				t.Errorf("SameHealth = %v, want %v", got, tt.same)
			}
		})
	}
}
