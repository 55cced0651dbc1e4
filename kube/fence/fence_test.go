package fence

import (
	"context"
	"errors"
	"net/http"
	"testing"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// fakeLock accepts every write unless told not to.
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
