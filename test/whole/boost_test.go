package whole_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/test/fakecloud"
)

// lower has running pods ask for less, in place, as where a boost for their start ends.
func (w *world) lower(cpu string) {
	for _, p := range w.allPods() {
		if p.Status.Phase != corev1.PodRunning || p.DeletionTimestamp != nil {
			continue
		}
		before := p.DeepCopy()
		p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse(cpu)
		if err := w.hand.Patch(w.t.Context(), &p, client.MergeFrom(before)); err != nil {
			w.t.Error(err)
		}
	}
}

// Pods that admission makes ask for more than their template says, and that ask for little
// once they run, leave their nodes nearly empty. Those that came in their place would ask
// for as much again: none moves, and nothing is launched, be it by a process that
// did not see them being made.
func TestPodsThatAskForLessOnceTheyRunStay(t *testing.T) {
	report(t, fakecloud.Options{Seed: 86}, func(t *testing.T, w *world) {
		w.pool("default", sizes)
		first := w.start(setup{})
		w.deploy("web", 4, func(p *corev1.Pod) {
			p.Spec.Containers[0].Resources.Requests[corev1.ResourceCPU] = resource.MustParse("1700m")
		})
		w.until(5*time.Minute, "four pods running", func() bool { return w.run(4) })
		pods, launched := w.pods, w.launched()
		quarter := func() {
			for range 90 {
				w.lower("200m")
				time.Sleep(10 * time.Second)
			}
			if w.pods != pods || w.launched() != launched {
				t.Errorf("%d pods and %d machines came in place of others; %s",
					w.pods-pods, w.launched()-launched, w.state())
			}
		}
		quarter()
		first.stop()
		w.start(setup{})
		quarter()
		w.sound()
	})
}
