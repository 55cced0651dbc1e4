// Package fence refuses writes, to Kubernetes and to the cloud, that the leader's lease would not
// outlive. A lease alone does not do that: a process that was paused until its lease expired still
// writes for a moment when it wakes up, while another leads.
//
// It promises that no call starts through it unless the lease, as last renewed, outlives the call's
// own timeout, by the monotonic clock and by the wall clock: the monotonic clock stands still while
// the host is suspended, and the wall clock may be set back. It does not elect leaders.
package fence

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"sync"
	"time"

	"k8s.io/client-go/tools/leaderelection/resourcelock"
)

// ErrNotLeading says that the lease may end before the call would.
var ErrNotLeading = errors.New("the lease may be over before this call is")

// Fence knows until when the lease is held for certain.
type Fence struct {
	LeaseFor time.Duration    // length of the lease, as the elector asks for it
	CallFor  time.Duration    // longest time a mutating call may take
	Now      func() time.Time // must go on while the process is stopped, as the monotonic clock does
	Wall     func() time.Time // must go on while the host is suspended too; nil: Now without its monotonic reading

	mu    sync.Mutex
	until moment // zero before the first renewal
}

// moment is the same time by two clocks.
type moment struct{ steady, wall time.Time }

func (f *Fence) now() moment {
	now := f.Now()
	if f.Wall == nil {
		return moment{now, now.Round(0)}
	}
	return moment{now, f.Wall()}
}

func (m moment) add(d time.Duration) moment { return moment{m.steady.Add(d), m.wall.Add(d)} }

// after is how long m is after o by the clock that says less.
func (m moment) after(o moment) time.Duration { return min(m.steady.Sub(o.steady), m.wall.Sub(o.wall)) }

// Check returns ErrNotLeading, wrapped with the figures, unless a call that
// begins now ends before the lease does.
func (f *Fence) Check() error {
	f.mu.Lock()
	until := f.until
	f.mu.Unlock()
	if until == (moment{}) {
		return fmt.Errorf("%w: no lease was taken", ErrNotLeading)
	}
	if left := until.after(f.now()); left < f.CallFor {
		return fmt.Errorf("%w: %v left of it, a call may take %v", ErrNotLeading, left.Round(time.Millisecond), f.CallFor)
	}
	return nil
}

// Do makes a mutating call, unless Check refuses it, and ends it when it takes
// longer than CallFor.
func (f *Fence) Do(ctx context.Context, call func(ctx context.Context) error) error {
	if err := f.Check(); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, f.CallFor)
	defer cancel()
	return call(ctx)
}

// Transport refuses mutating requests that Check refuses.
func (f *Fence) Transport(inner http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method != http.MethodGet && r.Method != http.MethodHead && r.Method != http.MethodOptions {
			if err := f.Check(); err != nil {
				return nil, err
			}
		}
		return inner.RoundTrip(r)
	})
}

// Watching returns the lock that an elector must use in place of inner, so
// that the fence learns of each renewal. The lease counts from before the
// renewal was sent.
func (f *Fence) Watching(inner resourcelock.Interface) resourcelock.Interface {
	return &lock{Interface: inner, fence: f}
}

func (f *Fence) renewed(at moment, record resourcelock.LeaderElectionRecord, identity string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	if record.HolderIdentity != identity {
		f.until = moment{} // released
		return
	}
	f.until = at.add(f.LeaseFor)
}

type lock struct {
	resourcelock.Interface
	fence *Fence
}

func (l *lock) Create(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	at := l.fence.now()
	if err := l.Interface.Create(ctx, record); err != nil {
		return err
	}
	l.fence.renewed(at, record, l.Identity())
	return nil
}

func (l *lock) Update(ctx context.Context, record resourcelock.LeaderElectionRecord) error {
	at := l.fence.now()
	if err := l.Interface.Update(ctx, record); err != nil {
		return err
	}
	l.fence.renewed(at, record, l.Identity())
	return nil
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
