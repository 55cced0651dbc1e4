package whole_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/test/fakecloud"
)

// What users wrote for Cluster Autoscaler decides whether a node that is too large may go, where the option says
// that it counts.
func TestAnnotationsOfClusterAutoscalerDecideWhetherANodeGoes(t *testing.T) {
	evict := func(value string) func(*corev1.Pod) {
		return func(p *corev1.Pod) { p.Annotations = map[string]string{api.AnnotationSafeToEvict: value} }
	}
	replica := func(value string) func(*world) {
		return func(w *world) { w.deploy("web", 1, evict(value)) }
	}
	lone := func(value string) func(*world) {
		return func(w *world) { w.lone("web", evict(value)) }
	}
	onKeptNode := func(w *world) {
		w.deploy("web", 1, plain)
		w.disableScaleDown()
	}
	tests := map[string]struct {
		counts mark.ClusterAutoscaler
		small  func(*world)
		stays  bool
	}{
		"a pod that is not safe to evict keeps its node":       {true, replica("false"), true},
		"without the option it does not":                       {false, replica("false"), false},
		"a pod of no controller that is safe to evict may go":  {true, lone("true"), false},
		"without the option it keeps its node":                 {false, lone("true"), true},
		"one that any other word is written on keeps its node": {true, lone("yes"), true},
		"a node whose scale-down is disabled stays":            {true, onKeptNode, true},
		"without the option it goes":                           {false, onKeptNode, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			report(t, fakecloud.Options{Seed: 91}, func(t *testing.T, w *world) {
				w.aloneOnALargeNodeOf(setup{others: tt.counts}, func() { tt.small(w) })
				first := w.claimNames()
				if !tt.stays {
					w.until(30*time.Minute, "the node goes", func() bool { return len(w.still(first)) == 0 })
					return
				}
				time.Sleep(30 * time.Minute)
				if len(w.still(first)) != len(first) {
					t.Errorf("the node went; %s", w.state())
				}
			})
		})
	}
}

// disableScaleDown waits for the node, and annotates it.
func (w *world) disableScaleDown() {
	w.until(5*time.Minute, "a node", func() bool { return len(w.nodes()) == 1 })
	w.annotate(&w.nodes()[0], api.AnnotationScaleDownDisabled, "true")
}

// A pool's startup taint of Cluster Autoscaler need not be tolerated: a node is launched for a pod that does not, and
// takes it in once the taint is removed. Without the option no node of the pool is for such a pod.
func TestStartupTaintsOfClusterAutoscalerGo(t *testing.T) {
	agent := corev1.Taint{Key: api.PrefixStartupTaint + "agent", Effect: corev1.TaintEffectNoSchedule}
	tainted := func(p *karpv1.NodePool) { p.Spec.Template.Spec.Taints = []corev1.Taint{agent} }
	t.Run("the option is on", func(t *testing.T) {
		report(t, fakecloud.Options{Seed: 92}, func(t *testing.T, w *world) {
			w.pool("default", tainted)
			w.start(setup{others: true})
			w.deploy("web", 1, plain)
			starts := func() *karpv1.NodeClaim {
				claims := w.claims()
				if len(claims) != 1 || !condition.IsTrue(&claims[0], karpv1.ClaimRegistered) {
					return nil
				}
				return &claims[0]
			}
			w.until(5*time.Minute, "a node that waits for its agent", func() bool {
				c := starts()
				return c != nil && condition.Get(c, karpv1.ClaimInitialized).Reason == karpv1.ReasonStartupTaintsExist
			})
			time.Sleep(5 * time.Minute)
			if c := starts(); c == nil || condition.IsTrue(c, karpv1.ClaimInitialized) || w.run(1) {
				t.Fatalf("want one node that has not started; %s", w.state())
			}
			w.untaint(agent.Key)
			w.until(time.Minute, "the pod on the node", func() bool {
				return w.run(1) && condition.IsTrue(starts(), karpv1.ClaimInitialized)
			})
		})
	})
	t.Run("the option is off", func(t *testing.T) {
		report(t, fakecloud.Options{Seed: 93}, func(t *testing.T, w *world) {
			w.pool("default", tainted)
			w.start(setup{})
			w.deploy("web", 1, plain)
			time.Sleep(5 * time.Minute)
			if len(w.claims()) > 0 {
				t.Errorf("a node was launched for a pod that does not tolerate its taint; %s", w.state())
			}
		})
	})
}

// untaint removes a taint from all nodes.
func (w *world) untaint(key string) {
	w.t.Helper()
	for _, n := range w.nodes() {
		n.Spec.Taints = slices.DeleteFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == key })
		if err := w.hand.Update(w.t.Context(), &n); err != nil {
			w.t.Fatal(err)
		}
	}
}
