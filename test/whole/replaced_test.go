package whole_test

import (
	"fmt"
	"slices"
	"testing"
	"time"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// replacement is why all instances at AWS are replaced.
type replacement struct {
	pool  func(*karpv1.NodePool)
	cause func(w *world)
}

func replacements() map[string]replacement {
	return map[string]replacement{
		"the class selects other images": {nil, func(w *world) { w.choose("bottlerocket@latest") }},
		"spot instances are taken back":  {onSpot, func(w *world) { w.all(func(id string) { w.cloud.Market().Interrupt(id) }) }},
		"machines end without any warning": {onSpot, func(w *world) {
			w.all(func(id string) { w.cloud.Market().Terminate(id, "Server.SpotInstanceTermination") })
		}},
	}
}

func (w *world) all(do func(id string)) {
	for _, m := range w.liveInstances() {
		do(m.ID)
	}
}

// replaceAll brings two instances up and has both replaced; a trouble strikes when the
// instances are there. It returns what was asked of AWS before and in all.
func (w *world) replaceAll(r replacement, with *trouble, action string, nth int) (before, calls map[string]int) {
	w.t.Helper()
	const n = 2
	c := w.upWith(setup{}, n, r.pool, plain)
	before = c.ordeal.counted(asked)
	if with != nil {
		c.carrier.take(aim{action: action, nth: before[action] + nth, with: *with})
	}
	old := w.claimNames()
	done := make(chan struct{})
	go w.watchman(done)
	defer close(done)
	r.cause(w)
	w.until(30*time.Minute, "all machines replaced", func() bool {
		return w.renewed(old) && w.run(n) && len(w.claims()) == n && len(w.instances()) == n
	})
	calls = c.ordeal.counted(asked)
	time.Sleep(12 * time.Minute) // the collector looks, and drift is looked for
	if w.launched() != 2*n || !w.run(n) || len(w.liveInstances()) != n {
		w.t.Errorf("%d machines were bought, want %d in all; %s", w.launched(), 2*n, w.state())
	}
	w.sound()
	return before, calls
}

// Instances are replaced, since they have drifted or AWS takes them away, and each call to
// AWS that this takes fails once in each way that AWS documents, or is right in part: all
// are replaced once, and those that drift after others have come.
func TestNoTroubleOfAnAWSCallReplacesAInstanceTwice(t *testing.T) {
	for name, r := range replacements() {
		t.Run(name, func(t *testing.T) {
			var before, calls map[string]int
			reportAWS(t, 6, func(_ *testing.T, w *world) { before, calls = w.replaceAll(r, nil, "", 0) })
			tried, i := 0, 0
			for _, action := range []string{"CreateFleet", "CreateLaunchTemplate", "DeleteMessageBatch", "DescribeInstances", "ListQueueTags", "ReceiveMessage", "TerminateInstances"} {
				for nth := 1; nth <= min(calls[action]-before[action], 12); nth++ {
					for _, with := range slices.Concat(troubles(action), partTroubles(action)) {
						if i++; *deaths > 0 && i%(48**deaths) != 0 {
							continue
						}
						tried++
						t.Run(fmt.Sprintf("%s %d %s", action, nth, with), func(t *testing.T) {
							reportAWS(t, 6, func(_ *testing.T, w *world) { w.replaceAll(r, &with, action, nth) })
						})
					}
				}
			}
			if tried == 0 && *deaths <= 1 {
				t.Errorf("nothing went wrong: what is tested? %v, and %v before", calls, before)
			}
		})
	}
}
