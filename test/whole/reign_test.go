package whole_test

import (
	"context"
	"time"
)

const (
	// leaseFor is how long a lease of a storm holds, and renewEvery how often it is renewed.
	leaseFor, renewEvery = 30 * time.Second, 3 * time.Second
	// lingers is how long a leader without a lease goes on beside the next.
	lingers = 15 * time.Second
)

// reign is who leads in a storm.
type reign struct {
	w      *world
	next   setup // of the next controller
	shared bool  // controllers share a lease

	now      *controller
	abdicate context.CancelFunc // ends its renewals; nil: it needs none
}

// reigns starts the first controller of a storm.
func (w *world) reigns(s setup, u draws) *reign {
	r := &reign{w: w, next: s, shared: has(takeovers) && u("takeovers") < 0.5}
	r.begin()
	return r
}

// begin starts a controller that leads at once.
func (r *reign) begin() {
	if !r.shared {
		r.now = r.w.start(r.next)
		return
	}
	c := newCandidate(leaseFor)
	r.now = r.w.start(c.runs(r.next))
	r.abdicate = r.w.renews(c)
}

// renews has a candidate hold the lease from now on.
func (w *world) renews(c *candidate) (abdicate context.CancelFunc) {
	ctx, cancel := context.WithCancel(context.Background())
	c.renew(w.t)
	w.everybody.Go(func() {
		for {
			select {
			case <-ctx.Done():
				return
			case <-time.After(renewEvery):
				c.renew(w.t)
			}
		}
	})
	return cancel
}

// die kills the controller, and starts another a while later.
func (r *reign) die(after time.Duration) {
	r.end()
	time.Sleep(after)
	r.next.seed++
	r.begin()
}

// pass has a standby, whose watches may be late, take the lease that the leader does not
// renew any more. The old leader goes on beside it, and does not know.
func (r *reign) pass() {
	old, abdicate := r.now, r.abdicate
	r.next.seed++
	c := newCandidate(leaseFor)
	r.now = r.w.start(c.runs(r.next))
	abdicate()
	time.Sleep(leaseFor)
	r.w.story.add("another controller takes the lease")
	r.abdicate = r.w.renews(c)
	time.Sleep(lingers)
	old.stop()
}

// end kills the controller that leads.
func (r *reign) end() {
	if r.abdicate != nil {
		r.abdicate()
	}
	r.now.stop()
}
