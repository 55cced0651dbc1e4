package podspec

import (
	"testing"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
)

// Pods come in this order for the devices of a claim that they share.
func TestOrderOfPodsThatShareAClaim(t *testing.T) {
	claim := "mine"
	pod := func(reason string, change func(*corev1.Pod)) *corev1.Pod {
		p := &corev1.Pod{}
		p.Spec.ResourceClaims = []corev1.PodResourceClaim{{Name: "gpu", ResourceClaimName: &claim}}
		if reason != "" {
			p.Status.Conditions = []corev1.PodCondition{
				{Type: corev1.PodScheduled, Status: corev1.ConditionFalse, Reason: reason}}
		}
		change(p)
		return p
	}
	none := func(*corev1.Pod) {}
	consumes := func(p *corev1.Pod) { p.Annotations = map[string]string{api.AnnotationConsumesRequest: "r"} }
	ends := func(p *corev1.Pod) { p.DeletionTimestamp = &metav1.Time{} }
	other := func(p *corev1.Pod) { p.Spec.SchedulerName = "other" }

	groups := [][]*corev1.Pod{
		{pod("", func(p *corev1.Pod) { p.Spec.NodeName = "n" })},
		{pod(corev1.PodReasonUnschedulable, none), pod(corev1.PodReasonSchedulerError, none)},
		{pod("", none)},
		{pod(corev1.PodReasonUnschedulable, consumes), pod("", consumes)},
		{pod(corev1.PodReasonSchedulingGated, none), pod(corev1.PodReasonUnschedulable, ends), pod("", other)},
	}
	var states []DeviceUserState
	for i, group := range groups {
		for _, p := range group {
			state := DeviceUses(p)[0].State
			if state != DeviceUses(group[0])[0].State {
				t.Errorf("%v comes in another place than %v, want the same", p, group[0])
			}
			if i > 0 && state <= states[i-1] {
				t.Errorf("%v comes before pods that can have devices sooner", p)
			}
		}
		states = append(states, DeviceUses(group[0])[0].State)
	}
}
