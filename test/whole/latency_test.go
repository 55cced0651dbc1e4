package whole_test

import (
	"flag"
	"testing"
	"testing/synctest"
	"time"
)

var podsAtOnce = flag.Int("pods", 200, "how many pods TestFromUnschedulableToCreateFleet has come at once")

// Pods come at once and nothing has room for them: how long until EC2 is asked for instances?
// What is waited for beside the batch window, of a second, is to be a tenth of a second at
// the most. It prints that. What is worked meanwhile takes no time here; it is measured by
// `daemok bench place`.
func TestFromUnschedulableToCreateFleet(t *testing.T) {
	reportAWS(t, 5, func(t *testing.T, w *world) {
		w.pool("default", nil)
		c := w.start(setup{})
		time.Sleep(time.Minute)
		w.scale("web", *podsAtOnce)
		for len(w.allPods()) < *podsAtOnce {
			time.Sleep(10 * time.Millisecond)
			synctest.Wait()
		}
		came := time.Now()
		time.Sleep(time.Second)
		for c.ordeal.counted(asked)["CreateFleet"] == 0 && time.Since(came) < time.Minute {
			time.Sleep(5 * time.Millisecond)
			synctest.Wait()
		}
		waited := time.Since(came) - time.Second
		t.Logf("%d pods: beside the batch window of 1s, %v are waited for", *podsAtOnce, waited)
		if waited > 100*time.Millisecond {
			t.Errorf("waited for %v beside the window, want 100ms at the most", waited)
		}
	})
}
