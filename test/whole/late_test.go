package whole_test

import (
	"context"
	"sync"
	"testing"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/test/fakecloud"
)

// lateFirst is a cloud whose first launch runs out of its caller's time and takes effect
// later. Until then and a little less, launches end as first says.
type lateFirst struct {
	cloud.Instances
	by    time.Duration
	first error
	work  *sync.WaitGroup

	mu    sync.Mutex
	began time.Time
}

func (l *lateFirst) Launch(ctx context.Context, r cloud.LaunchRequest) ([]cloud.Instance, error) {
	l.mu.Lock()
	isFirst := l.began.IsZero()
	if isFirst {
		l.began = time.Now()
	}
	since := time.Since(l.began)
	l.mu.Unlock()
	switch {
	case isFirst:
		l.work.Go(func() {
			time.Sleep(l.by)
			_, _ = l.Instances.Launch(context.WithoutCancel(ctx), r)
		})
		<-ctx.Done()
		return nil, ctx.Err()
	case since < l.by-10*time.Second:
		return nil, l.first
	}
	return l.Instances.Launch(ctx, r)
}

// A launch runs out of time, and whatever is tried after it is turned away before the
// cloud sees its token. Then launches work again, and the first takes effect: each pod
// has one instance, and there was never another.
func TestALaunchThatComesLateIsNotMadeTwice(t *testing.T) {
	for name, why := range map[string]error{
		"the next ones are refused":                &cloud.RefusedError{Reason: "Unauthorized", Cause: "not allowed"},
		"for the next ones there is no capacity":   &cloud.NoCapacityError{Cause: "no subnet"},
		"the next ones are throttled":              &cloud.ThrottledError{Call: "CreateFleet"},
		"the next ones run out of time themselves": context.DeadlineExceeded,
	} {
		t.Run(name, func(t *testing.T) {
			report(t, fakecloud.Options{Seed: 72}, func(t *testing.T, w *world) {
				w.pool("default", nil)
				w.start(setup{through: func(m cloud.Instances) cloud.Instances {
					return &lateFirst{Instances: m, by: 80 * time.Second, first: why, work: &w.everybody}
				}})
				w.scale("web", 3)
				w.until(5*time.Minute, "three pods running", func() bool { return w.run(3) })
				time.Sleep(3 * time.Minute)
				if w.launched() != 3 {
					t.Errorf("launched %d instances for three pods; %s", w.launched(), w.state())
				}
				w.sound()
			})
		})
	}
}

// The pods of a launch that ran out of time go before it takes effect: the claims wait
// for it, get its instances, and these are terminated with them.
func TestALaunchThatComesLateForNoPodIsTerminated(t *testing.T) {
	report(t, fakecloud.Options{Seed: 73}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.start(setup{through: func(m cloud.Instances) cloud.Instances {
			return &lateFirst{Instances: m, by: 80 * time.Second, first: context.DeadlineExceeded, work: &w.everybody}
		}})
		w.scale("web", 3)
		time.Sleep(30 * time.Second)
		w.scale("web", 0)
		time.Sleep(45 * time.Second)
		if len(w.claims()) == 0 {
			t.Error("NodeClaims went while their instances may come")
		}
		w.until(10*time.Minute, "nothing left", w.empty)
		w.sound()
	})
}
