package whole_test

import (
	"context"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/daemok/daemok/kube/fence"
	"github.com/daemok/daemok/test/fakecloud"
	"github.com/daemok/daemok/test/store"
)

// lease is a lock that anybody may renew: who holds it is the test's choice.
type lease struct{ resourcelock.Interface }

func (l lease) Identity() string { return "me" }
func (l lease) Update(context.Context, resourcelock.LeaderElectionRecord) error {
	return nil
}

// candidate is a controller's part in the election of a leader.
type candidate struct {
	fence *fence.Fence
	lease resourcelock.Interface
	leads chan struct{} // closed when it has held the lease once
}

func newCandidate(leaseFor time.Duration) *candidate {
	f := &fence.Fence{LeaseFor: leaseFor, CallFor: 20 * time.Second, Now: time.Now}
	return &candidate{f, f.Watching(lease{}), make(chan struct{})}
}

// renew takes the lease, or keeps it.
func (c *candidate) renew(t testing.TB) {
	if err := c.lease.Update(context.Background(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}); err != nil {
		t.Error(err)
	}
	select {
	case <-c.leads:
	default:
		close(c.leads)
	}
}

// runs is the controller: it makes no plans before it leads, and changes nothing without
// the lease.
func (c *candidate) runs(s setup) setup {
	s.lease, s.leads = c.fence, c.leads
	s.fault = func(call store.Call) (error, error) {
		if call.Writes() {
			return c.fence.Check(), nil
		}
		return nil, nil
	}
	return s
}

// Two controllers think that they lead, but the lease of the first has run
// out: it goes on looking and planning, and changes nothing.
func TestOfTwoLeadersTheOneWithoutALeaseChangesNothing(t *testing.T) {
	report(t, fakecloud.Options{Seed: 30}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		first := newCandidate(30 * time.Second)
		first.renew(t)
		paused := w.start(first.runs(setup{}))
		time.Sleep(time.Minute) // its only renewal was long ago when there is something to do
		refused := 0
		second := newCandidate(24 * time.Hour)
		second.renew(t)
		w.start(second.runs(setup{}))
		before := len(paused.ordeal.made())
		w.scale("web", 3)
		w.until(5*time.Minute, "three pods running", func() bool { return w.run(3) })
		w.sound()
		if w.launched() != 3 || len(w.claims()) != 3 {
			t.Errorf("bought %d machines for 3 pods; %s", w.launched(), w.state())
		}
		w.scale("web", 0)
		w.until(5*time.Minute, "an empty cluster", w.empty)
		for _, call := range paused.ordeal.made()[before:] {
			if call != "List" {
				refused++
				t.Errorf("the controller without a lease did: %s", call)
			}
		}
	})
}
