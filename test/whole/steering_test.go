package whole_test

import (
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/steering"
	"github.com/daemok/daemok/test/fakecloud"
)

// A pool lets empty nodes go alone. Of two nodes the one with fewer pods is to empty; a scale-down takes its pods, though
// others are first by name, and the node goes without an eviction.
func TestScaleDownsEmptyANode(t *testing.T) {
	report(t, fakecloud.Options{Seed: 71}, func(t *testing.T, w *world) {
		small := func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("300m")
		}
		w.upWith(setup{}, 6, func(p *karpv1.NodePool) { p.Spec.Disruption.ConsolidationPolicy = "WhenEmpty" }, small)
		w.deploy("web", 8, small)
		w.until(5*time.Minute, "pods on a second node", func() bool { return w.run(8) })
		w.deploy("web", 5, small)
		w.until(time.Minute, "a scale-down", func() bool { return len(w.allPods()) == 5 })
		w.until(3*time.Minute, "a node that is to empty", func() bool { return len(w.emptying()) == 1 && w.lowCosts() > 0 })
		leaves := w.emptying()[0]
		var stay []string
		for _, p := range w.allPods() {
			if p.Spec.NodeName != leaves {
				stay = append(stay, p.Name)
			}
		}
		if first := w.allPods()[0]; first.Spec.NodeName == leaves {
			t.Fatalf("%s of %s is the first by name anyway", first.Name, leaves)
		}
		w.deploy("web", len(stay), small)
		w.until(3*time.Minute, "one node", func() bool { return len(w.nodes()) == 1 })
		var left []string
		for _, p := range w.allPods() {
			left = append(left, p.Name)
		}
		if !slices.Equal(left, stay) {
			t.Errorf("%v run, want %v, none of them new", left, stay)
		}
		if w.lowCosts() > 0 || len(w.emptying()) > 0 {
			t.Errorf("%d pods have low costs, and %v are to empty; want none", w.lowCosts(), w.emptying())
		}
	})
}

// emptying lists the nodes with the taint of those that are to empty.
func (w *world) emptying() (out []string) {
	for _, n := range w.nodes() {
		if slices.ContainsFunc(n.Spec.Taints, func(t corev1.Taint) bool { return t.Key == api.TaintEmptying }) {
			out = append(out, n.Name)
		}
	}
	return out
}

// lowCosts counts pods that ReplicaSets are told to delete first.
func (w *world) lowCosts() (n int) {
	for _, p := range w.allPods() {
		if _, ours := steering.Cost(&p); ours {
			n++
		}
	}
	return n
}
