package whole_test

import (
	"context"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"

	"github.com/daemok/daemok/cloud/fake"
	"github.com/daemok/daemok/kube/fence"
	"github.com/daemok/daemok/kube/storetest"
)

// lease is a lock that anybody may renew: who holds it is the test's choice.
type lease struct {
	resourcelock.Interface
	name string
}

func (l lease) Identity() string { return l.name }
func (l lease) Update(context.Context, resourcelock.LeaderElectionRecord) error {
	return nil
}

// Two controllers think that they lead, but the lease of the first has run
// out: it goes on looking and planning, and changes nothing.
func TestOfTwoLeadersTheOneWithoutALeaseChangesNothing(t *testing.T) {
	tell(t, fake.Options{Seed: 30}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		paused := w.start(behind(&fence.Fence{LeaseFor: 30 * time.Second, CallFor: 20 * time.Second, Now: time.Now}))
		time.Sleep(time.Minute) // its only renewal was long ago when there is something to do
		refused := 0
		second := behind(&fence.Fence{LeaseFor: 24 * time.Hour, CallFor: 20 * time.Second, Now: time.Now})
		w.start(second)
		before := len(paused.ordeal.made())
		w.scale("web", 3)
		w.until(5*time.Minute, "three pods running", func() bool { return w.run(3) })
		w.sound()
		if w.bought() != 3 || len(w.claims()) != 3 {
			t.Errorf("bought %d machines for 3 pods; %s", w.bought(), w.state())
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

// behind is a controller whose writes pass a fence that was renewed once, now.
func behind(f *fence.Fence) setup {
	held := f.Watching(lease{name: "me"})
	if err := held.Update(context.Background(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}); err != nil {
		panic(err)
	}
	return setup{
		lease: f,
		fault: func(c storetest.Call) (error, error) {
			if c.Writes() {
				return f.Check(), nil
			}
			return nil, nil
		},
	}
}
