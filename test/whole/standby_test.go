package whole_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/test/fakecloud"
)

// The node of the controller is not replaced in good time like others while no
// other replica is ready, but goes at its age.
func TestTheControllersNodeWaitsForAStandby(t *testing.T) {
	for self, waits := range map[string]bool{"daemok-1": true, "": false} {
		report(t, fakecloud.Options{Seed: 46}, func(t *testing.T, w *world) {
			w.pool("default", mayLive("1h"))
			w.start(setup{pod: self})
			began := time.Now()
			w.deploy("daemok", 2, func(p *corev1.Pod) { p.Namespace = "kube-system" })
			w.until(5*time.Minute, "two replicas on two nodes", func() bool { return w.run(2) && len(w.nodes()) == 2 })
			names := w.claimNames()
			time.Sleep(59*time.Minute + 30*time.Second - time.Since(began))
			if left := len(w.stillThere(names)); (left == 1) != waits {
				t.Errorf("as %q: %d of two old nodes are left just before their time, want one: %v; %s",
					self, left, waits, w.state())
			}
			w.until(5*time.Minute, "both nodes replaced", func() bool { return len(w.stillThere(names)) == 0 && w.run(2) })
			w.sound()
		})
	}
}

// stillThere lists which of these claims there are.
func (w *world) stillThere(names []string) (out []string) {
	for _, name := range w.claimNames() {
		for _, one := range names {
			if name == one {
				out = append(out, name)
			}
		}
	}
	return out
}
