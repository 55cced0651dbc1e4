package whole_test

import (
	"testing"
	"time"

	"github.com/daemok/daemok/test/fakecloud"
)

// A process that starts while launches are held back finds orders that an earlier one
// made. The pods that they are for have been there for long, but it has only just seen them, and
// kube-scheduler has said nothing of them; or their class is not ready, so that
// none knows what may be launched. Orders stay, and each pod gets the instance that was ordered for it.
func TestARestartUndoesNoOrder(t *testing.T) {
	tests := map[string]func(w *world){
		"while kube-scheduler is behind": func(w *world) { w.schedulerWorks(false) },
		"while the class is not ready":   func(w *world) { w.classes.set("SubnetsReady: no subnets") },
		"while both are so":              func(w *world) { w.schedulerWorks(false); w.classes.set("SubnetsReady: no subnets") },
		"while nothing else is amiss":    func(*world) {},
	}
	for name, trouble := range tests {
		t.Run(name, func(t *testing.T) {
			report(t, fakecloud.Options{Seed: 75}, func(t *testing.T, w *world) {
				cut, open := closedFor(reasons["purchases are throttled"])
				w.pool("default", nil)
				w.schedulerWorks(false)
				first := w.start(setup{through: cut})
				w.scale("web", 3)
				w.until(15*time.Second, "three orders", func() bool { return len(w.claims()) == 3 })
				w.schedulerWorks(true)
				trouble(w)
				ordered := w.ids.Load()
				first.stop()
				w.start(setup{through: cut})
				time.Sleep(8 * time.Second)
				if w.ids.Load() != ordered || len(w.claims()) != 3 || w.events.said("Withdrawn: ") {
					t.Errorf("%d orders were made besides the three; %s", w.ids.Load()-ordered, w.state())
				}
				w.schedulerWorks(true)
				w.classes.set("")
				open()
				w.until(5*time.Minute, "three pods running", func() bool { return w.run(3) })
				if w.launched() != 3 {
					t.Errorf("launched %d machines for three pods; %s", w.launched(), w.state())
				}
				w.sound()
			})
		})
	}
}

// schedulerWorks says whether kube-scheduler looks at pods.
func (w *world) schedulerWorks(does bool) {
	w.mu.Lock()
	defer w.mu.Unlock()
	w.schedules = does
}
