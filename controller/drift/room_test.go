package drift

import (
	"testing"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// agentPod is the pod of a DaemonSet for a node, as its controller makes it, of
// which the scheduler has said so for ten minutes.
func agentPod(y *yard, node, says string) *corev1.Pod {
	is := true
	p := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "agent-x",
		OwnerReferences: []metav1.OwnerReference{{Kind: "DaemonSet", Name: "agent", UID: "agents", Controller: &is}}}}
	p.Spec.Affinity = &corev1.Affinity{NodeAffinity: &corev1.NodeAffinity{RequiredDuringSchedulingIgnoredDuringExecution: &corev1.NodeSelector{
		NodeSelectorTerms: []corev1.NodeSelectorTerm{{MatchFields: []corev1.NodeSelectorRequirement{{Key: "metadata.name", Operator: "In", Values: []string{node}}}}},
	}}}
	p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodScheduled, Status: corev1.ConditionFalse,
		Reason:  corev1.PodReasonUnschedulable,
		Message: says, LastTransitionTime: metav1.NewTime(y.now.Add(-10 * time.Minute))}}
	return p
}

func TestNodesWithoutRoomForADaemonSet(t *testing.T) {
	const full = "0/3 nodes are available: 1 Insufficient cpu, 2 node(s) didn't satisfy plugin(s) [NodeAffinity]."
	const drifts = "DaemonSetUnplaced: no room for pod ops/agent-x of DaemonSet ops/agent, which asks for it by annotation daemok.sh/make-room"
	tests := map[string]struct {
		change func(y *yard, set *appsv1.DaemonSet, pod *corev1.Pod)
		want   string
	}{
		"drift where its owner asks for it": {func(*yard, *appsv1.DaemonSet, *corev1.Pod) {}, drifts},
		"drift with too many pods on them": {func(_ *yard, _ *appsv1.DaemonSet, p *corev1.Pod) {
			p.Status.Conditions[0].Message = "0/1 nodes are available: 1 Too many pods."
		}, drifts},
		"do not where nobody does": {func(_ *yard, s *appsv1.DaemonSet,
			_ *corev1.Pod) {
			s.Annotations = nil
		}, ""},
		"do not where it is older than they": {func(_ *yard, s *appsv1.DaemonSet,
			_ *corev1.Pod) {
			s.CreationTimestamp.Time = time.Time{}
		}, ""},
		"do not because of another node": {func(y *yard, _ *appsv1.DaemonSet,
			p *corev1.Pod) {
			*p = *agentPod(y, "node-2", full)
		}, ""},
		"do not because of other obstacles": {func(_ *yard, _ *appsv1.DaemonSet, p *corev1.Pod) {
			p.Status.Conditions[0].Message = "0/1 nodes are available: 1 node(s) didn't have free ports for the requested pod ports."
		}, ""},
		"do not at once": {func(y *yard, _ *appsv1.DaemonSet, p *corev1.Pod) {
			p.Status.Conditions[0].LastTransitionTime.Time = y.now.Add(-time.Minute)
		}, ""},
		"do not once it runs": {func(_ *yard, _ *appsv1.DaemonSet,
			p *corev1.Pod) {
			p.Spec.NodeName = "node-1"
		}, ""},
		"do not while others make room for it": {func(_ *yard, _ *appsv1.DaemonSet,
			p *corev1.Pod) {
			p.Status.NominatedNodeName = "node-1"
		}, ""},
		"do not because of others' pods": {func(_ *yard, _ *appsv1.DaemonSet,
			p *corev1.Pod) {
			p.OwnerReferences[0].UID = "other"
		}, ""},
		"drift by their image before": {func(y *yard, _ *appsv1.DaemonSet,
			_ *corev1.Pod) {
			y.instances[0].Image = "ami-old"
		}, "AMIDrift: image is ami-old; EC2NodeClass/default selects ami-new"},
		"no longer, once the annotation is off": {func(y *yard, s *appsv1.DaemonSet, _ *corev1.Pod) {
			y.drifted(karpv1.ReasonDaemonSetUnplaced)
			s.Annotations = nil
		}, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			y := newYard()
			set := &appsv1.DaemonSet{ObjectMeta: metav1.ObjectMeta{Namespace: "ops", Name: "agent", UID: "agents",
				CreationTimestamp: metav1.NewTime(y.now.Add(-time.Hour)),
				Annotations:       map[string]string{api.AnnotationMakeRoom: "true"}}}
			set.Status.NumberUnavailable = 1
			pod := agentPod(y, "node-1", full)
			tt.change(y, set, pod)
			y.sets, y.pods = []appsv1.DaemonSet{*set}, []corev1.Pod{*pod}
			y.open(t)
			if got := verdict(y.look(t)); got != tt.want {
				t.Errorf("drifted: %q, want %q", got, tt.want)
			}
		})
	}
}
