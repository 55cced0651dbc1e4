package fence

import (
	"context"
	"errors"
	"net/http"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// fakeLock accepts every write unless configured not to.
type fakeLock struct {
	resourcelock.Interface
	err error
}

func (l *fakeLock) Create(context.Context, resourcelock.LeaderElectionRecord) error { return l.err }
func (l *fakeLock) Update(context.Context, resourcelock.LeaderElectionRecord) error { return l.err }
func (l *fakeLock) Identity() string                                                { return "me" }

func TestFence(t *testing.T) {
	mine := resourcelock.LeaderElectionRecord{HolderIdentity: "me"}
	released := resourcelock.LeaderElectionRecord{}
	tests := map[string]struct {
		life  func(l resourcelock.Interface, inner *fakeLock, pass func(time.Duration))
		leads bool
	}{
		"is closed before the lease is taken": {func(resourcelock.Interface, *fakeLock, func(time.Duration)) {}, false},
		"opens with the lease": {func(l resourcelock.Interface, _ *fakeLock, _ func(time.Duration)) {
			_ = l.Create(context.Background(), mine)
		}, true},
		"closes while a call could outlive the lease": {func(l resourcelock.Interface, _ *fakeLock, pass func(time.Duration)) {
			_ = l.Create(context.Background(), mine)
			pass(11 * time.Second)
		}, false},
		"stays open when the lease is renewed": {func(l resourcelock.Interface, _ *fakeLock, pass func(time.Duration)) {
			_ = l.Create(context.Background(), mine)
			pass(11 * time.Second)
			_ = l.Update(context.Background(), mine)
		}, true},
		"a renewal that failed counts for nothing": {func(l resourcelock.Interface, inner *fakeLock, pass func(time.Duration)) {
			_ = l.Create(context.Background(), mine)
			pass(11 * time.Second)
			inner.err = errors.New("conflict")
			_ = l.Update(context.Background(), mine)
		}, false},
		"closes when the lease is given back": {func(l resourcelock.Interface, _ *fakeLock, _ func(time.Duration)) {
			_ = l.Create(context.Background(), mine)
			_ = l.Update(context.Background(), released)
		}, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			f := &Fence{LeaseFor: 30 * time.Second, CallFor: 20 * time.Second, Now: func() time.Time { return now }}
			inner := &fakeLock{}
			tt.life(f.Watching(inner), inner, func(d time.Duration) { now = now.Add(d) })
			if err := f.Check(); (err == nil) != tt.leads {
				t.Errorf("Check() = %v; want leading %v", err, tt.leads)
			}
		})
	}
}

// A host that was suspended wakes with a monotonic clock that knows nothing
// of it, and a wall clock may be set back: the one that says less counts.
func TestTheFenceClosesByEitherClock(t *testing.T) {
	tests := map[string]struct {
		steady, wall time.Duration // since the renewal
		leads        bool
	}{
		"both say that there is time":           {time.Second, time.Second, true},
		"the host slept, the wall clock knows":  {time.Second, time.Hour, false},
		"the wall clock was set back meanwhile": {11 * time.Second, -time.Hour, false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			steady := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
			wall := steady
			f := &Fence{
				LeaseFor: 30 * time.Second, CallFor: 20 * time.Second,
				Now: func() time.Time { return steady }, Wall: func() time.Time { return wall },
			}
			_ = f.Watching(&fakeLock{}).Update(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"})
			steady, wall = steady.Add(tt.steady), wall.Add(tt.wall)
			if err := f.Check(); (err == nil) != tt.leads {
				t.Errorf("Check() = %v; want leading %v", err, tt.leads)
			}
		})
	}
}

// slowLock takes its time for every write.
type slowLock struct {
	fakeLock
	takes func()
}

func (l *slowLock) Create(context.Context, resourcelock.LeaderElectionRecord) error {
	l.takes()
	return nil
}

func (l *slowLock) Update(context.Context, resourcelock.LeaderElectionRecord) error {
	l.takes()
	return nil
}

// Others count the lease from when the API server wrote it, which may be as early as the
// renewal was sent: one that is answered late leaves so much less of it.
func TestALeaseCountsFromBeforeItsRenewal(t *testing.T) {
	mine := resourcelock.LeaderElectionRecord{HolderIdentity: "me"}
	for what, write := range map[string]func(resourcelock.Interface) error{
		"taken":   func(l resourcelock.Interface) error { return l.Create(t.Context(), mine) },
		"renewed": func(l resourcelock.Interface) error { return l.Update(t.Context(), mine) },
	} {
		now := time.Date(2026, 1, 1, 0, 0, 0, 0, time.UTC)
		f := &Fence{LeaseFor: 30 * time.Second, CallFor: 20 * time.Second, Now: func() time.Time { return now }}
		if err := write(f.Watching(&slowLock{takes: func() { now = now.Add(11 * time.Second) }})); err != nil {
			t.Fatal(err)
		}
		if err := f.Check(); !errors.Is(err, ErrNotLeading) {
			t.Errorf("%s by a write of 11 s, with 19 s left and calls of 20 s: Check() = %v", what, err)
		}
	}
}

// A call that hangs is ended before the lease may be another's.
func TestACallEndsBeforeTheLeaseDoes(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		f := &Fence{LeaseFor: 30 * time.Second, CallFor: 20 * time.Second, Now: time.Now}
		if err := f.Watching(&fakeLock{}).Create(t.Context(), resourcelock.LeaderElectionRecord{HolderIdentity: "me"}); err != nil {
			t.Fatal(err)
		}
		began := time.Now()
		err := f.Do(t.Context(), func(ctx context.Context) error {
			select {
			case <-ctx.Done():
				return ctx.Err()
			case <-time.After(time.Hour):
				return nil
			}
		})
		if took := time.Since(began); !errors.Is(err, context.DeadlineExceeded) || took != f.CallFor {
			t.Errorf("a call that hangs ended with %v after %v", err, took)
		}
	})
}

// With time.Now alone both clocks are examined.
func TestTheWallClockIsThatOfNow(t *testing.T) {
	m := (&Fence{Now: time.Now}).now()
	if !strings.Contains(m.steady.String(), " m=") || strings.Contains(m.wall.String(), " m=") || !m.wall.Equal(m.steady) {
		t.Errorf("now is %v by the steady clock, %v by the wall clock", m.steady, m.wall)
	}
}

func TestTransportLetsReadsThrough(t *testing.T) {
	f := &Fence{LeaseFor: time.Second, CallFor: time.Second, Now: time.Now}
	sent := 0
	rt := f.Transport(roundTripper(func(*http.Request) (*http.Response, error) { sent++; return &http.Response{}, nil }))
	for _, method := range []string{http.MethodGet, http.MethodPost, http.MethodPatch, http.MethodDelete} {
		r, _ := http.NewRequest(method, "http://api", nil)
		_, err := rt.RoundTrip(r)
		if refused := errors.Is(err, ErrNotLeading); refused != (method != http.MethodGet) {
			t.Errorf("%s without a lease: %v", method, err)
		}
	}
	if sent != 1 {
		t.Errorf("%d requests were sent, want the GET alone", sent)
	}
}
