package planner

import (
	"context"
	"sync"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
)

// passEvery keeps searches for nodes that may go apart. A long one is followed by
// a longer pause, as rounds are; the pause is short, since the next step of those that follow each other is
// due as soon as pods have come together.
const passEvery = 2 * time.Second

// pass is the search for nodes that may go, which takes seconds in large
// clusters: it runs beside the rounds, on the cluster as it was when it began.
// The round that follows it asks again about what was found. At most one is
// under way.
type pass struct {
	search func(ctx context.Context, s *cluster.Snapshot, made *plan.Plan, questions int64) *disruption.Found
	now    func() time.Time

	basis  uint64    // of the last one
	due    time.Time // from when on the answer may be another though nothing has changed
	restTo time.Time // no other before
	found  *disruption.Found
	last   *disruption.Found // what was found last, taken or not

	under sync.WaitGroup
	done  chan *disruption.Found
	began time.Time
	busy  bool
}

// dueAt is when a search is due that sees the snapshot; ok is false where the
// last one saw the same and one is under way or was made lately.
func (p *pass) dueAt(s *cluster.Snapshot) (at time.Time, ok bool) {
	switch {
	case p.busy:
		return time.Time{}, false
	case s.Revision != p.basis || !p.due.After(s.Now):
		return p.restTo, true
	}
	return p.due, true
}

// begin searches in a snapshot that is not written any more, beside what the plan for it
// does.
func (p *pass) begin(ctx context.Context, s *cluster.Snapshot, made *plan.Plan, questions int64) {
	p.busy, p.basis, p.began = true, s.Revision, p.now()
	p.due = s.Now.Add(recheckEvery)
	if at, ok := decide.NextDue(s); ok && at.Before(p.due) {
		p.due = at
	}
	p.under.Go(func() { p.done <- p.search(ctx, s, made, questions) })
}

// finished records what the search under way has found. It returns how long it took and
// whether there are moves in it, or it reports something else than the one before: then the
// next round must not wait for something else to happen.
func (p *pass) finished(found *disruption.Found) (took time.Duration, news bool) {
	now := p.now()
	took, news = now.Sub(p.began), found.Moves() || found.Reports(p.last)
	p.last, p.busy, p.found, p.restTo = found, false, found, now.Add(pause(took, passEvery, recheckEvery))
	return took, news
}

// take gives away what was found.
func (p *pass) take() *disruption.Found {
	out := p.found
	p.found = nil
	return out
}

// passFor is how a planner searches: by its own policy.
func passFor(p *Planner) pass {
	return pass{
		now: p.Now, done: make(chan *disruption.Found, 1),
		search: func(ctx context.Context, s *cluster.Snapshot, made *plan.Plan, questions int64) *disruption.Found {
			search := decide.Leaving(s, made, p.Policy)
			for search.Step() && search.Questions < questions && ctx.Err() == nil {
				continue
			}
			return search.Found()
		},
	}
}
