package whole_test

import (
	"testing"
	"time"

	"github.com/daemok/daemok/test/fakecloud"
)

// From nothing to three instances and back to nothing.
func TestPodsComeAndGoAndSoDoTheirInstances(t *testing.T) {
	report(t, fakecloud.Options{Seed: 1}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.start(setup{})
		w.scale("web", 3)
		w.until(5*time.Minute, "three pods running", func() bool { return w.run(3) })
		w.sound()
		if w.launched() != 3 || len(w.claims()) != 3 {
			t.Errorf("bought %d machines for 3 pods; %s", w.launched(), w.state())
		}
		w.scale("web", 0)
		w.until(5*time.Minute, "an empty cluster", w.empty)
	})
}
