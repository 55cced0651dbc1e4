package whole_test

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"testing"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/test/fakecloud"
)

// counter is a cloud whose launches fail while it is closed.
type counter struct {
	cloud.Instances
	closed *atomic.Pointer[error]
}

func (c counter) Launch(ctx context.Context, r cloud.LaunchRequest) ([]cloud.Instance, error) {
	if why := c.closed.Load(); why != nil {
		return nil, *why
	}
	return c.Instances.Launch(ctx, r)
}

// closedFor is a cloud at which nothing can be launched until it is opened.
func closedFor(why error) (wrap func(cloud.Instances) cloud.Instances, open func()) {
	closed := &atomic.Pointer[error]{}
	closed.Store(&why)
	return func(m cloud.Instances) cloud.Instances { return counter{m, closed} }, func() { closed.Store(nil) }
}

// reasons are why launches may be held back.
var reasons = map[string]error{
	"purchases are refused":         &cloud.RefusedError{Reason: "Unauthorized", Cause: "not allowed"},
	"purchases are throttled":       &cloud.ThrottledError{Call: "CreateFleet"},
	"nobody knows what came of one": errors.New("connection reset by peer"),
}

// Launches are held back, and the pods go before they succeed: the orders are
// withdrawn, and no instance appears when everything works again. The next pods
// get instances as ever.
func TestUnneededLaunchesAreWithdrawn(t *testing.T) {
	for name, why := range reasons {
		t.Run(name, func(t *testing.T) {
			report(t, fakecloud.Options{Seed: 70}, func(t *testing.T, w *world) {
				cut, open := closedFor(why)
				w.pool("default", nil)
				w.start(setup{lag: fixed(60 * time.Millisecond), through: cut})
				w.scale("web", 3)
				w.until(15*time.Second, "three orders", func() bool { return len(w.claims()) == 3 })
				time.Sleep(10 * time.Second)
				w.scale("web", 0)
				w.until(3*time.Minute, "no orders", func() bool { return len(w.claims()) == 0 })
				if !w.events.said("Withdrawn: No longer needed") {
					t.Error("no event says that the orders were withdrawn")
				}
				open()
				time.Sleep(3 * time.Minute)
				if w.launched() != 0 {
					t.Errorf("bought %d machines for nobody; %s", w.launched(), w.state())
				}
				w.scale("web", 2)
				w.until(3*time.Minute, "two pods running", func() bool { return w.run(2) })
				if w.launched() != 2 {
					t.Errorf("bought %d machines for two pods; %s", w.launched(), w.state())
				}
				w.sound()
			})
		})
	}
}

// Two of three orders are not needed any more; the pod that waits gets the
// third, and nothing else is launched.
func TestOnlyUnneededLaunchesAreWithdrawn(t *testing.T) {
	report(t, fakecloud.Options{Seed: 71}, func(t *testing.T, w *world) {
		cut, open := closedFor(reasons["purchases are refused"])
		w.pool("default", nil)
		w.start(setup{through: cut})
		w.scale("web", 3)
		w.until(15*time.Second, "three orders", func() bool { return len(w.claims()) == 3 })
		w.scale("web", 1)
		w.until(2*time.Minute, "one order", func() bool { return len(w.claims()) == 1 })
		open()
		w.until(3*time.Minute, "one pod running", func() bool { return w.run(1) })
		time.Sleep(time.Minute)
		if w.launched() != 1 {
			t.Errorf("bought %d machines for one pod; %s", w.launched(), w.state())
		}
		w.sound()
	})
}

// The scheduler chooses a node of others for one of two pods, and its call to bind it
// runs out of time: the pod waits as before, and its order stays until it is bound.
func TestAPodThatTheSchedulerCouldNotBindKeepsItsOrder(t *testing.T) {
	report(t, fakecloud.Options{Seed: 74}, func(t *testing.T, w *world) {
		cut, open := closedFor(reasons["purchases are refused"])
		w.pool("default", nil)
		w.start(setup{through: cut})
		w.scale("web", 2)
		w.until(15*time.Second, "two orders", func() bool { return len(w.claims()) == 2 })
		w.bindsNothing(true)
		w.foreign("of-others", "1")
		time.Sleep(2 * time.Minute)
		if w.events.said("Withdrawn: No longer needed") || len(w.claims()) != 2 {
			t.Errorf("an order was withdrawn for a pod that is not bound; %s", w.state())
		}
		w.bindsNothing(false)
		w.until(3*time.Minute, "one order", func() bool { return len(w.claims()) == 1 })
		open()
		w.until(3*time.Minute, "two pods running", func() bool { return w.run(2) })
		if w.launched() != 1 {
			t.Errorf("bought %d machines for the pod without room; %s", w.launched(), w.state())
		}
		w.sound()
	})
}

// A launch that is under way when its pods go is not cut: its instance comes,
// has one owner, and goes as every empty one does.
func TestALaunchUnderWayIsNotWithdrawn(t *testing.T) {
	report(t, fakecloud.Options{Seed: 72}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.start(setup{lag: fixed(60 * time.Millisecond), through: func(m cloud.Instances) cloud.Instances { return slow{m} }})
		w.scale("web", 2)
		w.until(15*time.Second, "two orders", func() bool { return len(w.claims()) == 2 })
		w.scale("web", 0)
		w.until(30*time.Second, "two machines", func() bool { return len(w.liveInstances()) == 2 })
		w.until(30*time.Second, "their claims", func() bool { return len(w.claims()) == 2 && w.claims()[0].Status.ProviderID != "" })
		w.sound()
		for _, c := range w.claims() {
			if c.Annotations[api.AnnotationWithdrawn] != "" {
				t.Errorf("claim %s has its instance and says it is withdrawn", c.Name)
			}
		}
		w.until(8*time.Minute, "an empty cluster", w.empty)
	})
}

// slow is a cloud that takes its time to offer.
type slow struct{ cloud.Instances }

func (s slow) Launch(ctx context.Context, r cloud.LaunchRequest) ([]cloud.Instance, error) {
	time.Sleep(10 * time.Second) // virtual time
	return s.Instances.Launch(ctx, r)
}

// The controller dies at its kth write or call of the cloud, for every k,
// while orders are withdrawn: nothing is launched then, and what is launched for
// the pods that come later is launched once.
func TestDeathWhileOrdersAreWithdrawnLaunchesNothing(t *testing.T) {
	var calls []string
	report(t, fakecloud.Options{Seed: 73}, func(_ *testing.T, w *world) {
		w.comeAndGo(setup{lag: fixed(60 * time.Millisecond)})
		calls = w.running[0].ordeal.made()
	})
	for i, call := range calls {
		for _, after := range []bool{false, true} {
			if !tried(i+1, 3, after) {
				continue
			}
			when := map[bool]string{false: "before", true: "after"}[after]
			t.Run(fmt.Sprintf("%s %d %s", when, i+1, call), func(t *testing.T) {
				report(t, fakecloud.Options{Seed: 73}, func(_ *testing.T, w *world) {
					w.comeAndGo(setup{lag: fixed(60 * time.Millisecond), dieAt: i + 1, after: after})
				})
			})
		}
	}
}

// comeAndGo has three pods come and go while launches fail, and then two that
// stay. A controller that dies is followed by another.
func (w *world) comeAndGo(s setup) {
	w.t.Helper()
	cut, open := closedFor(reasons["nobody knows what came of one"])
	s.through = cut
	c := w.start(s)
	step := func(limit time.Duration, what string, holds func() bool) {
		w.t.Helper()
		w.until(limit, what, func() bool {
			if c.ordeal.isKilled() {
				c.done.Wait()
				w.story.add(fmt.Sprintf("the controller died at %s", c.ordeal.last()))
				c = w.start(setup{through: cut, lag: s.lag})
			}
			return holds()
		})
	}
	w.pool("default", nil)
	w.scale("web", 3)
	step(time.Minute, "three orders", func() bool { return len(w.claims()) == 3 })
	w.scale("web", 0)
	step(6*time.Minute, "no orders", func() bool { return len(w.claims()) == 0 })
	open()
	began := time.Now()
	step(2*time.Minute, "a quiet minute", func() bool { return time.Since(began) > time.Minute })
	if w.launched() != 0 {
		w.t.Errorf("bought %d machines for nobody; %s", w.launched(), w.state())
	}
	w.scale("web", 2)
	step(5*time.Minute, "two pods running", func() bool { return w.run(2) })
	step(time.Minute, "two claims", func() bool { return len(w.claims()) == 2 })
	if w.launched() != 2 {
		w.t.Errorf("bought %d machines for two pods; %s", w.launched(), w.state())
	}
	w.sound()
}
