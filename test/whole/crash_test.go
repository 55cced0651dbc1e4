package whole_test

import (
	"flag"
	"fmt"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/test/fakecloud"
)

var deaths = flag.Int("deaths", 2, "let the controller die at every nth of its calls, before it or after it in turn; 0: at each both before and after, with watches at once and late")

// tried reports whether a controller is to die at this call, just before or just
// after it takes effect, in a test that is content with every nth call.
func tried(call, nth int, after bool) bool {
	nth *= *deaths
	return nth == 0 || call%nth == 0 && after == (call/nth%2 == 0)
}

// The controller dies at its kth write or call of the cloud, for every k of a
// scale-up and the scale-down after it, just before the call takes effect or
// just after, and starts again with an empty memory. Nothing may be launched
// twice, nothing leaked, and every pod must run.
func TestDeathAtAnyWriteLosesNothingAndLaunchesNothingTwice(t *testing.T) {
	lags := []time.Duration{60 * time.Millisecond}
	if *deaths == 0 {
		lags = append(lags, 0)
	}
	for _, lag := range lags {
		for i, call := range callsOfCleanRun(t, lag) {
			for _, after := range []bool{false, true} {
				if !tried(i+1, 3, after) {
					continue
				}
				when := map[bool]string{false: "before", true: "after"}[after]
				t.Run(fmt.Sprintf("lag %v %s %d %s", lag, when, i+1, call), func(t *testing.T) {
					report(t, fakecloud.Options{Seed: 1}, func(_ *testing.T, w *world) { w.survive(setup{dieAt: i + 1, after: after, lag: fixed(lag)}) })
				})
			}
		}
	}
}

func fixed(d time.Duration) func(client.Object) time.Duration {
	return func(client.Object) time.Duration { return d }
}

func callsOfCleanRun(t *testing.T, lag time.Duration) (calls []string) {
	t.Helper()
	report(t, fakecloud.Options{Seed: 1}, func(_ *testing.T, w *world) {
		w.upAndDown(w.start(setup{lag: fixed(lag)}))
		calls = w.running[0].ordeal.made()
	})
	return calls
}

// survive tells the story with a controller that dies and another after it.
func (w *world) survive(s setup) {
	w.upAndDown(w.start(s))
	if !w.running[0].ordeal.killed {
		w.story.add("the story ended before the death that was due")
	}
}

// upAndDown scales from nothing to three instances and back. A controller that
// dies is followed by another.
func (w *world) upAndDown(c *controller) {
	w.t.Helper()
	w.upToAndDown(c, 3)
}

func (w *world) upToAndDown(c *controller, n int) {
	w.t.Helper()
	followed := func(holds func() bool) func() bool {
		return func() bool {
			if c.ordeal.isKilled() {
				c.done.Wait()
				w.story.add(fmt.Sprintf("the controller died at %s", c.ordeal.last()))
				c = w.start(setup{})
			}
			return holds()
		}
	}
	w.pool("default", nil)
	w.scale("web", n)
	w.until(8*time.Minute, "all pods running", followed(func() bool { return w.run(n) }))
	w.until(2*time.Minute, "one machine for each claim and pod", followed(func() bool {
		return len(w.liveInstances()) == n && len(w.claims()) == n
	}))
	w.sound()
	if w.launched() != n {
		w.t.Errorf("bought %d machines for %d pods; %s", w.launched(), n, w.state())
	}
	w.scale("web", 0)
	w.until(8*time.Minute, "an empty cluster", followed(w.empty))
	if w.aws != nil {
		w.leave(followed)
	}
}
