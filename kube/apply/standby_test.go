package apply

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
)

// replica is a pod of the controller; its labels of the workload are given.
func (y *yard) replica(name, node string, ready corev1.ConditionStatus) *corev1.Pod {
	return y.pod(name, node, func(p *corev1.Pod) {
		p.Namespace, p.Labels = "kube-system", map[string]string{"app": "daemok", "pod-template-hash": name}
		p.Status.Conditions = []corev1.PodCondition{{Type: corev1.PodReady, Status: ready}}
	})
}

// What the watches have shown of a standby may be old: a move of the node of
// this process asks the API server.
func TestTheNodeOfTheControllerGoesWhenAnotherCanTakeOver(t *testing.T) {
	taint := func(n *corev1.Node) {
		n.Spec.Taints = append(n.Spec.Taints, corev1.Taint{Key: api.TaintDisrupted, Effect: corev1.TaintEffectNoSchedule})
	}
	ready, not := corev1.ConditionTrue, corev1.ConditionFalse
	tests := map[string]struct {
		reason  plan.RemovalReason
		prepare func(y *yard)
		goes    bool
	}{
		"another is ready":                             {plan.Underutilized, func(y *yard) { y.replica("other", "n-1", ready) }, true},
		"another is not ready":                         {plan.Drifted, func(y *yard) { y.replica("other", "n-1", not) }, false},
		"another is on the same node":                  {plan.Drifted, func(y *yard) { y.replica("other", "n-0", ready) }, false},
		"another is on a node that goes":               {plan.Drifted, func(y *yard) { y.replica("other", "n-1", ready); edited(y, "", "n-1", &corev1.Node{}, taint) }, false},
		"another is on a node that is gone":            {plan.Drifted, func(y *yard) { y.replica("other", "n-7", ready) }, false},
		"there is none, and the node need not go":      {plan.Underutilized, func(*yard) {}, false},
		"there is none, and the node is not as it was": {plan.Drifted, func(*yard) {}, true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			report(t, 2, func(t *testing.T, y *yard) {
				y.replica("me", "n-0", ready)
				tt.prepare(y)
				a := y.applier(nil)
				a.Pod = "me"
				a.Move(context.Background(), y.snapshot(), y.move(tt.reason, 1, 0), y)
				a.Wait()
				time.Sleep(5 * time.Second)
				if gone := !strings.Contains(y.state(), "old-0"); gone != tt.goes {
					t.Errorf("the node went: %v, want %v (%v)", gone, tt.goes, y.ended[0].Err)
				}
				if !tt.goes && !strings.Contains(y.ended[0].Err.Error(), "no other replica is ready on a node that stays") {
					t.Errorf("it stayed because of %v", y.ended[0].Err)
				}
			})
		})
	}
}

// A standby whose node is being removed by this very process is none.
func TestAStandbyThatLeavesIsNone(t *testing.T) {
	report(t, 3, func(t *testing.T, y *yard) {
		y.replica("me", "n-0", corev1.ConditionTrue)
		y.replica("other", "n-1", corev1.ConditionTrue)
		y.replica("next", "", corev1.ConditionFalse)
		a := y.applier(nil)
		a.Pod = "me"
		both := y.move(plan.Drifted, 2, 0)
		a.Move(context.Background(), y.snapshot(), both, y)
		a.Wait()
		time.Sleep(5 * time.Second)
		if got := y.state(); got != "old-0 old-2" {
			t.Errorf("left: %s, want the node of this process and the one that was to stay", got)
		}
	})
}
