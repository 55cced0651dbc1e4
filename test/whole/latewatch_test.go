package whole_test

import (
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/test/fakecloud"
)

// The leader stops right after it has made claims, and another takes over whose watch
// of one kind is seconds behind: it makes no plan before that has caught up, so that nothing is
// launched twice and the pool's limit holds.
func TestALeaderWithALateWatchLaunchesNothingTwice(t *testing.T) {
	tests := map[string]func(client.Object) bool{
		"of claims": func(o client.Object) bool { _, is := o.(*karpv1.NodeClaim); return is },
		"of nodes":  func(o client.Object) bool { _, is := o.(*corev1.Node); return is },
		"of pods":   func(o client.Object) bool { _, is := o.(*corev1.Pod); return is },
	}
	for name, late := range tests {
		t.Run(name, func(t *testing.T) {
			report(t, fakecloud.Options{Seed: 76}, func(t *testing.T, w *world) {
				w.pool("default", func(p *karpv1.NodePool) {
					p.Spec.Limits = corev1.ResourceList{api.ResourceNodes: resource.MustParse("3")}
				})
				first := w.start(setup{})
				second := newCandidate(24 * time.Hour)
				w.start(second.runs(setup{lag: func(o client.Object) time.Duration {
					if late(o) {
						return 4 * time.Second
					}
					return 0
				}}))
				w.scale("web", 3)
				w.until(15*time.Second, "three claims", func() bool { return len(w.claims()) == 3 })
				first.stop()
				second.renew(t)
				w.until(5*time.Minute, "three pods running", func() bool { return w.run(3) })
				if made := w.ids.Load(); made != 3 || w.launched() != 3 {
					t.Errorf("%d claims were made and %d machines launched for three pods; %s",
						made, w.launched(), w.state())
				}
				w.sound()
			})
		})
	}
}
