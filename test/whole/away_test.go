package whole_test

import (
	"context"
	"errors"
	"net/url"
	"sync/atomic"
	"testing"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/fence"
	"github.com/daemok/daemok/test/fakecloud"
	"github.com/daemok/daemok/test/store"
)

// awayFor is how long the API server is gone.
const awayFor = 5 * time.Minute

// serverLeaves has the API server be gone for a while: none reads, writes or is told of anything. AWS goes on. After it
// watches list again. Where it is gone already nothing changes.
func (w *world) serverLeaves() {
	if w.isAway() {
		return
	}
	w.story.add("the API server is gone")
	w.back.Store(time.Now().Add(awayFor).UnixNano())
}

// awayStill is how long the API server stays away.
func (w *world) awayStill() time.Duration { return time.Until(time.Unix(0, w.back.Load())) }

func (w *world) isAway() bool { return w.awayStill() > 0 }

// cutter has the API server leave as the next launch is answered, if it is set: none can write what was launched.
type cutter struct {
	cloud.Instances
	world *world
	set   *atomic.Bool
}

func (c cutter) Launch(ctx context.Context, r cloud.LaunchRequest) ([]cloud.Instance, error) {
	got, err := c.Instances.Launch(ctx, r)
	if c.set.CompareAndSwap(true, false) {
		c.world.serverLeaves()
	}
	return got, err
}

// cutOff is a controller that reaches the API server as long as that is there, which may leave at a launch.
func (w *world) cutOff(s setup, atLaunch *atomic.Bool) setup {
	s.through = func(m cloud.Instances) cloud.Instances { return cutter{m, w, atLaunch} }
	before := s.fault
	s.fault = func(call store.Call) (error, error) {
		if w.isAway() {
			return &url.Error{Op: "Get", URL: "https://api", Err: errors.New("connection refused")}, nil
		}
		if before != nil {
			return before(call)
		}
		return nil, nil
	}
	s.lag = func(client.Object) time.Duration { return max(0, w.awayStill()) }
	return s
}

// outlives sits an absence out. A controller with a lease loses it meanwhile and ends; another starts once it is
// answered.
func (w *world) outlives(c *controller, leased bool) *controller {
	w.t.Helper()
	w.serverLeaves()
	if leased {
		time.Sleep(fence.RenewFor)
		c.stop()
	}
	time.Sleep(w.awayStill())
	w.story.add("the API server is back")
	w.server.CutWatches()
	if leased {
		c = w.leader(new(atomic.Bool))
	}
	return c
}

// leader is a controller that renews its lease for as long as it runs and the API server is there.
func (w *world) leader(atLaunch *atomic.Bool) *controller {
	f := &candidate{&fence.Fence{LeaseFor: fence.LeaseFor, CallFor: fence.CallFor, Now: time.Now}, nil, make(chan struct{})}
	f.lease = f.fence.Watching(lease{})
	f.renew(w.t)
	c := w.start(w.cutOff(f.runs(setup{}), atLaunch))
	w.everybody.Go(func() {
		for !c.ordeal.isKilled() {
			time.Sleep(fence.RenewEvery)
			if !w.isAway() {
				f.renew(w.t)
			}
		}
	})
	return c
}

// The API server is gone for five minutes in the middle of a scale-up, and again in the middle of the scale-down after
// it: whatever had begun is gone on with, every pod gets its node, and nothing is launched twice or left behind. That
// holds for a controller without a lease, which lives through it, and for one that loses its lease and is followed.
func TestFiveMinutesWithoutAnAPIServer(t *testing.T) {
	const pods = 4
	const atLaunch = "when a launch is answered"
	moments := map[string]func(w *world) bool{
		atLaunch:                        (*world).isAway,
		"when pods wait":                func(w *world) bool { return len(w.allPods()) == pods },
		"when the claims are written":   func(w *world) bool { return len(w.claims()) == pods },
		"when the instances launch":     func(w *world) bool { return w.launched() > 0 },
		"when the instances are known":  func(w *world) bool { return w.known() == pods },
		"when the first node has come":  func(w *world) bool { return len(w.nodes()) > 0 },
		"when the first pod has a node": func(w *world) bool { running, _ := w.podsRunning(); return running > 0 },
	}
	for name, moment := range moments {
		for _, leased := range []bool{false, true} {
			t.Run(name+map[bool]string{true: ", with a lease"}[leased], func(t *testing.T) {
				report(t, fakecloud.Options{Seed: 31}, func(t *testing.T, w *world) {
					cut := new(atomic.Bool)
					cut.Store(name == atLaunch)
					w.pool("default", nil)
					var c *controller
					if leased {
						c = w.leader(cut)
					} else {
						c = w.start(w.cutOff(setup{}, cut))
					}
					w.scale("web", pods)
					w.until(5*time.Minute, name, func() bool { return moment(w) })
					c = w.outlives(c, leased)
					w.until(5*time.Minute, "all pods run", func() bool { return w.run(pods) && len(w.claims()) == pods })
					w.sound()
					if w.launched() != pods {
						t.Errorf("launched %d instances for %d pods; %s", w.launched(), pods, w.state())
					}
					w.scale("web", 0)
					w.until(5*time.Minute, "the first node to go", func() bool { return len(w.liveInstances()) < pods || w.ending() })
					w.outlives(c, leased)
					w.until(10*time.Minute, "an empty cluster", w.empty)
					if w.launched() != pods {
						t.Errorf("launched %d instances for %d pods", w.launched(), pods)
					}
				})
			})
		}
	}
}

// known counts the claims that say which instance is theirs.
func (w *world) known() (n int) {
	for _, c := range w.claims() {
		if c.Status.ProviderID != "" {
			n++
		}
	}
	return n
}

// ending reports whether a claim is being deleted.
func (w *world) ending() bool {
	for _, c := range w.claims() {
		if c.DeletionTimestamp != nil {
			return true
		}
	}
	return false
}
