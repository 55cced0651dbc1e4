package planner

import (
	"context"
	"reflect"
	"sync"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/share"
)

// draftAfter is the part of a window's idle time, as a divisor, for which no pod must
// have come before the plan is made ahead: what is left of it is for making the plan.
const draftAfter = 10

// draftCheckEvery keeps checks whether a draft still holds apart.
const draftCheckEvery = 50 * time.Millisecond

// draft is the plan that will be needed when the batch window closes, made while it is open:
// mostly no further pod comes, and then no pod waits for the plan. It is a plan like any other,
// of a snapshot projected through what is being launched, and is used if the snapshot at the
// end of the window says the same. At most one is under way.
type draft struct {
	decide func(*cluster.Snapshot, *disruption.Found) drafted
	ready  func(ctx context.Context, launches []plan.Launch) // has what it launches made ready
	now    func() time.Time

	of     *cluster.Snapshot // that it is made from; nil: there is none
	found  *disruption.Found // that it checks again
	made   drafted
	stale  bool      // something has changed since it was compared last
	restTo time.Time // nothing is done before

	under sync.WaitGroup
	done  chan drafted
	busy  bool
}

// drafted is a plan, how many questions may be asked about nodes beside it, and since when
// and how long it was made.
type drafted struct {
	plan      plan.Plan
	questions int64
	began     time.Time
	took      time.Duration
	part      share.Part
}

// dueIn says how long there is nothing to do about it, in a window of this idle time in which
// the last pod came at that moment; ok is false while nothing has changed, or one is under way.
func (d *draft) dueIn(now, lastAt time.Time, idle time.Duration) (wait time.Duration, ok bool) {
	if d.busy || d.of != nil && !d.stale {
		return 0, false
	}
	return max(0, lastAt.Add(idle/draftAfter).Sub(now), d.restTo.Sub(now)), true
}

// begin makes a draft of a snapshot that is not written any more, unless there is one that
// holds. It reports whether it does.
func (d *draft) begin(ctx context.Context, s *cluster.Snapshot, found *disruption.Found) bool {
	d.stale, d.restTo = false, d.now().Add(draftCheckEvery)
	if d.holds(s, found) {
		return false
	}
	d.busy, d.of, d.found = true, s, found
	d.under.Go(func() {
		made := d.decide(s, found)
		d.done <- made
		d.ready(ctx, made.plan.Launches)
	})
	return true
}

// finished notes that the draft under way was made. The next one rests for as long as it took.
func (d *draft) finished(x drafted) {
	d.busy, d.made = false, x
	d.restTo = d.now().Add(max(draftCheckEvery, x.took))
}

// holds reports whether the draft is what would be decided about a snapshot. Where the
// clock alone asks for another plan it does not.
func (d *draft) holds(s *cluster.Snapshot, found *disruption.Found) bool {
	if d.of == nil || d.found != found {
		return false
	}
	if at, due := decide.NextDue(d.of); due && !at.After(s.Now) {
		return false
	}
	was := *d.of
	was.Now, was.Revision = s.Now, s.Revision
	return reflect.DeepEqual(&was, s)
}

// take ends the window. It returns the plan for a snapshot if that was made ahead, once it is
// made; false if there is none, or ctx ends.
func (d *draft) take(ctx context.Context, s *cluster.Snapshot, found *disruption.Found) (drafted, bool) {
	holds := d.holds(s, found)
	d.of = nil
	if holds && d.busy {
		select {
		case <-ctx.Done():
			return drafted{}, false
		case x := <-d.done:
			d.finished(x)
		}
	}
	out := d.made
	d.made, out.plan.Basis = drafted{}, s.Revision
	return out, holds
}

// draftFor is how a planner makes its plans ahead: as it makes them.
func draftFor(p *Planner) draft {
	return draft{
		now: p.Now, done: make(chan drafted, 1),
		decide: func(s *cluster.Snapshot, found *disruption.Found) drafted { return p.decide(s, found, nil) },
		ready: func(ctx context.Context, launches []plan.Launch) {
			if p.Preparer != nil && len(launches) > 0 {
				p.Preparer.Prepare(ctx, launches)
			}
		},
	}
}
