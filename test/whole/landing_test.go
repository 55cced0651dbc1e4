package whole_test

import (
	"context"
	"slices"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/test/fakecloud"
)

// foreign makes a node that is none's of ours, with room for so many pods.
func (w *world) foreign(name string, pods string) {
	n := &corev1.Node{ObjectMeta: metav1.ObjectMeta{Name: name, Labels: map[string]string{api.LabelHostname: name}}}
	w.create(n)
	n.Status.Allocatable = corev1.ResourceList{corev1.ResourceCPU: resource.MustParse(pods), corev1.ResourceMemory: resource.MustParse("8Gi"), corev1.ResourcePods: resource.MustParse("20")}
	n.Status.Capacity = n.Status.Allocatable
	n.Status.Conditions = []corev1.NodeCondition{{Type: corev1.NodeReady, Status: corev1.ConditionTrue}}
	if err := w.hand.Status().Update(context.Background(), n); err != nil {
		w.t.Fatal(err)
	}
}

// A pod that the scheduler puts elsewhere frees what was launched for it: the
// next pod is expected there, and nothing is launched again.
func TestAPodThatLandsElsewhereFreesItsInstanceForTheNext(t *testing.T) {
	report(t, fakecloud.Options{Seed: 61}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.start(setup{})
		w.scale("web", 2)
		w.until(15*time.Second, "two machines on order", func() bool { return len(w.liveInstances()) == 2 })
		w.foreign("of-others", "2")
		w.until(15*time.Second, "the pods on the node of others", func() bool { return w.run(2) })
		w.scale("db", 2)
		w.until(5*time.Minute, "four pods running", func() bool { return w.run(4) })
		w.sound()
		if w.launched() != 2 {
			t.Errorf("bought %d machines, want the two that were on order; %s", w.launched(), w.state())
		}
	})
}

// The scheduler need not follow a plan: with another order of its own it puts
// every pod on an instance that was launched for another one.
func TestPodsThatSwapTheirInstancesNeedNoOthers(t *testing.T) {
	report(t, fakecloud.Options{Seed: 62}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.start(setup{})
		w.mu.Lock()
		w.contrary = true
		w.mu.Unlock()
		w.scale("web", 3)
		w.scale("db", 2)
		w.until(5*time.Minute, "five pods running", func() bool { return w.run(5) })
		w.until(3*time.Minute, "some more rounds", func() bool { return time.Since(w.story.began) > 3*time.Minute })
		w.sound()
		if w.launched() != 5 {
			t.Errorf("bought %d machines for five pods; %s", w.launched(), w.state())
		}
	})
}

// Pods that come when instances of others have just joined are given their places. Those that
// lost them are launched for at once: nothing was ordered for the others, and so nothing is left that
// would be worth waiting for.
func TestPodsThatLoseTheirPlacesToNewOnesAreLaunchedForAtOnce(t *testing.T) {
	report(t, fakecloud.Options{Seed: 63}, func(t *testing.T, w *world) {
		works := func(does bool) {
			w.mu.Lock()
			w.schedules, w.contrary = does, true
			w.mu.Unlock()
		}
		w.pool("default", nil)
		w.start(setup{})
		w.scale("web", 3)
		w.until(15*time.Second, "three machines on order", func() bool { return len(w.liveInstances()) == 3 })
		works(false)
		w.until(3*time.Minute, "three nodes that take pods", func() bool {
			nodes := w.nodes()
			return len(nodes) == 3 && !slices.ContainsFunc(nodes, func(n corev1.Node) bool { return translate.HasTaint(&n, api.TaintUnregistered) })
		})
		first := map[string]bool{}
		for _, p := range w.allPods() {
			first[p.Name] = true
		}
		w.scale("web", 5)
		works(true)
		w.until(5*time.Second, "the two that are left bought for", func() bool { return w.launched() == 5 })
		left := 0
		for _, p := range w.allPods() {
			if first[p.Name] && p.Spec.NodeName == "" {
				left++
			}
		}
		if left != 2 {
			t.Fatalf("%d of the first pods lost their places, want two; %s", left, w.state())
		}
		w.until(5*time.Minute, "five pods running", func() bool { return w.run(5) })
		time.Sleep(3 * time.Minute)
		w.sound()
		if w.launched() != 5 {
			t.Errorf("bought %d machines for five pods; %s", w.launched(), w.state())
		}
	})
}
