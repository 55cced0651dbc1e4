package whole_test

import (
	"context"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/fakecloud"
)

// isRepaired has unhealthy nodes of the pool repaired, as it says.
func isRepaired(as string) func(*karpv1.NodePool) {
	return func(p *karpv1.NodePool) { p.Annotations = map[string]string{api.AnnotationRepair: as} }
}

// fallSilent has nothing more be heard of a node's kubelet: its pods do not end.
func (w *world) fallSilent(n corev1.Node) {
	w.t.Helper()
	before := n.DeepCopy()
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionUnknown, LastTransitionTime: metav1.Now()}}
	if err := w.hand.Status().Patch(context.Background(), &n, client.MergeFrom(before)); err != nil {
		w.t.Fatal(err)
	}
}

// SC-360, SC-362: a node whose kubelet is silent is repaired after half an hour, where
// its pool asks for it: the pod that must not be disturbed and has all day to end comes
// up elsewhere, the budgets that allow nothing are not asked, and the instance is gone.
func TestANodeWhoseKubeletIsSilentIsRepaired(t *testing.T) {
	report(t, fakecloud.Options{Seed: 70}, func(t *testing.T, w *world) {
		c := w.up(2, func(p *karpv1.NodePool) {
			isRepaired("on")(p)
			p.Spec.Disruption.Budgets = []karpv1.Budget{{Nodes: "0"}}
			p.Spec.Template.Spec.TerminationGracePeriod = "24h"
		}, func(p *corev1.Pod) {
			p.Annotations = map[string]string{api.AnnotationDoNotDisrupt: "true"}
			p.Spec.TerminationGracePeriodSeconds = new(int64(86400))
		})
		pod := w.allPods()[0]
		for _, n := range w.nodes() {
			if n.Name == pod.Spec.NodeName {
				w.fallSilent(n)
			}
		}
		time.Sleep(30*time.Minute - time.Second)
		if !hasPod(w.allPods(), pod.UID) || w.launched() != 2 {
			t.Fatalf("the node was repaired before its time; %s", w.state())
		}
		w.until(10*time.Minute, "the pod on another machine", func() bool {
			return !hasPod(w.allPods(), pod.UID) && w.run(2) && len(w.claims()) == 2 && len(w.instances()) == 2
		})
		if n := w.launched(); n != 3 {
			t.Errorf("%d machines were bought, want three", n)
		}
		if lines := c.reports("karpenter_nodeclaims_unhealthy_disrupted_total"); len(lines) != 1 || !strings.HasSuffix(lines[0], " 1") || !strings.Contains(lines[0], "condition=Ready") {
			t.Errorf("counted %q, want one", lines)
		}
		if !w.events.said("NodeRepair: The node is repaired: Ready has been Unknown since") {
			t.Error("no event says that the node is repaired")
		}
		w.sound()
	})
}

// None asks for repair: the node stays as it is, however long its kubelet is silent.
func TestNoNodeIsRepairedUnasked(t *testing.T) {
	report(t, fakecloud.Options{Seed: 71}, func(t *testing.T, w *world) {
		w.up(1, nil, plain)
		pod := w.allPods()[0]
		w.fallSilent(w.nodes()[0])
		time.Sleep(time.Hour)
		if !hasPod(w.allPods(), pod.UID) || w.launched() != 1 {
			t.Errorf("the node was repaired; %s", w.state())
		}
	})
}

// SC-361: half of a pool fall silent at once, which is hardly the fault of its
// instances: nothing is done but told. When all but one are back, that one is repaired.
func TestRepairStopsWhereManyNodesAreUnhealthy(t *testing.T) {
	report(t, fakecloud.Options{Seed: 72}, func(t *testing.T, w *world) {
		w.up(4, isRepaired("Ready=10m"), plain)
		old := w.nodes()
		w.fallSilent(old[0])
		w.fallSilent(old[1])
		time.Sleep(30 * time.Minute)
		if w.launched() != 4 || len(w.nodes()) != 4 {
			t.Fatalf("a node was repaired; %s", w.state())
		}
		if !w.events.said("NodeRepairBlocked: The node is unhealthy and not repaired: Ready has been Unknown since") {
			t.Error("no event says that repair is blocked")
		}
		for _, n := range w.nodes() {
			if n.Name == old[0].Name {
				before := n.DeepCopy()
				n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue, LastTransitionTime: metav1.Now()}}
				if err := w.hand.Status().Patch(context.Background(), &n, client.MergeFrom(before)); err != nil {
					t.Fatal(err)
				}
			}
		}
		w.until(10*time.Minute, "the other node repaired", func() bool {
			return w.run(4) && len(w.instances()) == 4 && w.launched() == 5
		})
		for _, n := range w.nodes() {
			if n.Name == old[1].Name {
				t.Errorf("node %s is still there", n.Name)
			}
		}
		w.sound()
	})
}
