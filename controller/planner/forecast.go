package planner

import (
	"context"
	"sync"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/share"
)

// forecastEvery keeps forecasts of one window apart; a long one is followed by
// a longer pause, as rounds are.
const forecastEvery = 400 * time.Millisecond

// forecastAgain keeps forecasts apart of which the last found nothing to launch:
// a pool may become ready at any moment.
const forecastAgain = 50 * time.Millisecond

// forecastShare is the part of a decision's effort of placing that a forecast may take, as a divisor; it seeks no
// cheaper instances. It must leave the processor to the plan that follows, and one that checks part of the pods only
// is of use too.
const forecastShare = 10

// preparer makes ready what launches will need. It is a hint only.
type preparer interface {
	Prepare(ctx context.Context, launches []plan.Launch)
}

// forecast uses the time in which a batch window is open: it plans for the pods that are
// there so far and has what such a plan would launch prepared, so that the launch need not
// wait for it. Nothing waits for a forecast, and nothing is launched or removed because of
// one. At most one is under way.
type forecast struct {
	preparer preparer
	decide   func(*cluster.Snapshot) plan.Plan
	now      func() time.Time

	pods   int                // that waited at the last one of this window
	restTo time.Time          // no other before
	window context.CancelFunc // ends what was not begun when the window closes; nil while closed

	under sync.WaitGroup
	done  chan outlook
	busy  bool
}

// outlook is what became of a forecast.
type outlook struct {
	took    time.Duration
	nothing bool // there was nothing to launch
}

// dueIn says how long there is no forecast to make; ok is false while nothing has changed
// since the last one, or one is under way.
func (f *forecast) dueIn(pods int, now time.Time) (wait time.Duration, ok bool) {
	if f.preparer == nil || f.busy || pods == f.pods {
		return 0, false
	}
	return max(0, f.restTo.Sub(now)), true
}

// begin makes a forecast for a snapshot that is not written any more.
func (f *forecast) begin(ctx context.Context, s *cluster.Snapshot, pods int) {
	f.busy, f.pods = true, pods
	open, closed := context.WithCancel(ctx)
	f.window = closed
	f.under.Go(func() {
		defer closed()
		began := f.now()
		made := f.decide(s)
		took := f.now().Sub(began)
		if open.Err() == nil && len(made.Launches) > 0 {
			f.preparer.Prepare(ctx, made.Launches)
		}
		f.done <- outlook{took, len(made.Launches) == 0}
	})
}

// finished notes that the forecast under way has ended.
func (f *forecast) finished(o outlook) {
	rest := forecastEvery
	if o.nothing {
		f.pods, rest = 0, forecastAgain // worth another forecast for the same pods
	}
	f.busy, f.restTo = false, f.now().Add(pause(o.took, rest, recheckEvery))
}

// close ends the window: what comes next is the real plan. A forecast that
// has not got as far as its launches is dropped.
func (f *forecast) close() {
	f.pods = 0
	if f.window != nil {
		f.window()
		f.window = nil
	}
}

// forecastFor is how a planner forecasts: by its own policy.
func forecastFor(p *Planner) forecast {
	return forecast{
		preparer: p.Preparer, now: p.Now, done: make(chan outlook, 1),
		decide: func(s *cluster.Snapshot) plan.Plan {
			s = share.Next(s, nil, p.Effort.part()).Snapshot
			return decide.Decide(s, p.Policy, decide.Effort{Place: p.Effort.of(s).Place / forecastShare})
		},
	}
}
