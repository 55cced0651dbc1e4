// Package planner is the one loop that makes plans, for pending pods and for nodes that may be
// removed.
//
// It promises that it makes one plan at a time, from a snapshot that includes what is already being
// launched, and that pods which arrive together share one plan. It carries nothing out itself.
package planner

import (
	"context"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/share"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/kube/snapshot/pods"
	"github.com/daemok/daemok/observe/trace"
)

// retryEvery is how often pods without a place, or whose claim could not be created, are
// checked again though nothing that we watch has changed: prices and shortages do by
// themselves, and the API server comes back.
const retryEvery = 10 * time.Second

// recheckEvery is how often everything is checked again whatever happens: budgets open and
// close by the clock, and what a move must save changes a day after the last pod came.
// Found late, it loses what the move saves in a minute at most.
const recheckEvery = time.Minute

// How far apart rounds are at least and at most while changes stream in outside
// a batch window. Pods may wait for the next one.
const (
	pauseMin = 100 * time.Millisecond
	pauseMax = 5 * time.Second
)

// pause is how long to rest after work that took so long: nine times that, and so the work
// takes a tenth of one processor, but no less and no more than is said. It has a bound
// because the clock says how long work took: where the processors are short, that may be a
// hundred times what it would take by itself.
func pause(took, least, most time.Duration) time.Duration {
	return min(max(least, 9*took), most)
}

// source gives snapshots.
type source interface {
	Snapshot() *cluster.Snapshot
	Arrivals() (list []pods.Arrival, next, now time.Time)
	Changed() <-chan struct{}
}

// ledger projects what is being launched into a snapshot.
type ledger interface {
	Project(s *cluster.Snapshot) *cluster.Snapshot
}

// applier carries plans out.
type applier interface {
	Hold(s *cluster.Snapshot, p plan.Plan)
	Gather(ctx context.Context, p plan.Plan) error
	Launch(ctx context.Context, s *cluster.Snapshot, p plan.Plan) []apply.Launched
	Withdraw(ctx context.Context, p plan.Plan) []apply.Withdrawn
	Move(ctx context.Context, s *cluster.Snapshot, p plan.Plan, reported apply.Listener)
}

// listener receives every plan and its outcome. Only Planned is called before a plan is
// carried out: what takes long belongs in Explain. Sought receives each search for nodes
// that may go.
type listener interface {
	apply.Listener
	Planned(s *cluster.Snapshot, p plan.Plan, took time.Duration)
	Gathered(err error)
	Launched(l []apply.Launched)
	Withdrawn(l []apply.Withdrawn)
	Explain(s *cluster.Snapshot, p plan.Plan)
	Sought(took time.Duration)
}

// Planner is the loop.
type Planner struct {
	Source   source
	Ledger   ledger
	Applier  applier
	Listener listener
	Policy   decide.Policy
	Effort   Effort
	Window   Window
	Preparer preparer             // receives launches to come; may be nil
	Planning func() (done func()) // called when a plan is begun, and done when it is made; may be nil
	Now      func() time.Time
	Traces   *trace.Tracer // nil: there are none

	forecast forecast
	draft    draft
	pass     pass
	turns    turns

	restUntil time.Time // no round before, outside a window
	recheckAt time.Time // a round is due then though nothing changes
	dirty     bool
}

// Run plans until ctx ends.
func (p *Planner) Run(ctx context.Context) error {
	p.dirty = true
	p.forecast = forecastFor(p)
	defer p.forecast.under.Wait()
	p.draft = draftFor(p)
	defer p.draft.under.Wait()
	if p.pass.search == nil {
		p.pass = passFor(p)
	}
	defer p.pass.under.Wait()
	for {
		arrivals, next, now := p.Source.Arrivals()
		p.Window.Update(arrivals)
		if wait := p.waitFor(now); wait > 0 {
			if !next.IsZero() {
				wait = min(wait, max(next.Sub(now), time.Millisecond))
			}
			wait = p.lookAhead(ctx, len(arrivals), now, wait)
			if !p.sleep(ctx, wait) {
				return nil
			}
			continue
		}
		p.round(ctx)
		if ctx.Err() != nil {
			return nil
		}
	}
}

// waitFor is how long there is nothing to do; zero means plan now.
func (p *Planner) waitFor(now time.Time) time.Duration {
	if p.turns.begun() {
		return 0
	}
	if closes, open := p.Window.ClosesAt(); open {
		return closes.Sub(now)
	}
	if p.dirty {
		return p.restUntil.Sub(now)
	}
	return p.recheckAt.Sub(now)
}

// lookAhead makes a draft of the plan or a forecast where one is due while the window is
// open, and returns how long there is nothing to do then, at most wait.
func (p *Planner) lookAhead(ctx context.Context, pods int, now time.Time, wait time.Duration) time.Duration {
	if _, open := p.Window.ClosesAt(); !open {
		return wait
	}
	due, drafts := p.draft.dueIn(now, p.Window.lastAt, p.Window.Idle)
	if drafts && due == 0 {
		if p.draft.begin(ctx, p.Ledger.Project(p.Source.Snapshot()), p.pass.found) {
			p.forecast.pods = pods // it has what there is to launch made ready too
		}
		return max(0, wait-p.Now().Sub(now))
	}
	if drafts {
		wait = min(wait, due)
	}
	due, forecasts := p.forecast.dueIn(pods, now)
	switch {
	case !forecasts || p.draft.busy:
		return wait
	case due > 0:
		return min(wait, due)
	}
	p.forecast.begin(ctx, p.Ledger.Project(p.Source.Snapshot()), pods)
	return max(0, wait-p.Now().Sub(now))
}

// sleep waits for a change or for d; it reports false when ctx ended.
func (p *Planner) sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-p.Source.Changed():
		p.dirty, p.draft.stale = true, true
	case took := <-p.forecast.done:
		p.forecast.finished(took)
	case made := <-p.draft.done:
		p.draft.finished(made)
	case found := <-p.pass.done:
		took, news := p.pass.finished(found)
		p.Listener.Sought(took)
		p.dirty = p.dirty || news
	case <-t.C:
	}
	return true
}

// round makes one plan and hands it over.
func (p *Planner) round(ctx context.Context) {
	s := p.Ledger.Project(p.Source.Snapshot())
	arrivals, _, now := p.Source.Arrivals()
	p.Window.Update(arrivals)
	if closes, open := p.Window.ClosesAt(); open && closes.After(now) && !p.turns.begun() {
		return // pods came in this very moment: they are gathered first
	}
	p.dirty = false
	timed := trace.Round{OpenedAt: p.Window.openedAt, BeganAt: now}
	p.Window.Close()
	p.forecast.close()
	x := p.plan(ctx, s)
	if ctx.Err() != nil {
		return
	}
	made := p.turns.note(s, x)
	p.Applier.Hold(s, made)
	timed.PlanAt, timed.PlanFor = x.began, x.took
	p.Traces.Round(timed)
	p.Listener.Planned(s, made, x.took)
	open := len(made.Unplaced)+len(made.Short) > 0
	if len(made.Joining) > 0 {
		err := p.Applier.Gather(ctx, made)
		p.Listener.Gathered(err)
		open = open || err != nil
	}
	if len(made.Launches) > 0 {
		launched := p.Applier.Launch(ctx, s, made)
		p.Listener.Launched(launched)
		open = open || slices.ContainsFunc(launched, func(l apply.Launched) bool { return l.Err != nil })
	}
	if len(made.Withdrawals) > 0 {
		withdrawn := p.Applier.Withdraw(ctx, made)
		p.Listener.Withdrawn(withdrawn)
		open = open || slices.ContainsFunc(withdrawn, func(w apply.Withdrawn) bool { return w.Err != nil })
	}
	if len(made.Moves) > 0 {
		p.Applier.Move(ctx, s, made, p.Listener)
	}
	p.Listener.Explain(s, made)
	p.schedule(s, open, x.took)
	if x.questions > 0 && !p.turns.begun() {
		p.lookAtNodes(ctx, s, &made, x.questions)
	}
}

// plan returns the plan for a snapshot, how many questions may be asked about nodes beside it, and how long
// it took to make it. It is the draft where that holds.
func (p *Planner) plan(ctx context.Context, s *cluster.Snapshot) drafted {
	found := p.pass.take()
	if ahead, holds := p.draft.take(ctx, s, found); (holds || ctx.Err() != nil) && !p.turns.begun() {
		return ahead
	}
	return p.decide(s, found, p.turns.done)
}

// decide makes the plan for a snapshot, and asks again about nodes that were found to
// go. What nodes may go is sought beside the rounds, with so many questions at most: pods must not
// wait for it. Of pods that are too many for one plan it is made for a part of those that are not done.
func (p *Planner) decide(s *cluster.Snapshot, found *disruption.Found, done map[string]bool) drafted {
	if p.Planning != nil {
		defer p.Planning()()
	}
	began := p.Now()
	out := drafted{part: share.Next(s, done, p.Effort.part()), began: began}
	effort := p.Effort.of(out.part.Snapshot)
	out.questions, effort.Disruption, effort.Part = effort.Disruption, 0, out.part.Rest > 0
	if found != nil && !effort.Part {
		out.plan = decide.DecideAgain(out.part.Snapshot, p.Policy, effort, found)
	} else {
		out.plan = decide.Decide(out.part.Snapshot, p.Policy, effort)
	}
	out.took = p.Now().Sub(began)
	return out
}

// lookAtNodes begins to search for nodes that may go, or has a round come when it is
// time for that.
func (p *Planner) lookAtNodes(ctx context.Context, s *cluster.Snapshot, made *plan.Plan, questions int64) {
	at, ok := p.pass.dueAt(s)
	switch {
	case !ok:
	case !at.After(p.Now()):
		p.Traces.Searching()
		p.pass.begin(ctx, s, made, questions)
	case at.Before(p.recheckAt):
		p.recheckAt = at
	}
}

// schedule sets when the next round is due without a change. open says that pods are left
// without a place or an instance being launched, or that a launch is left which no pod
// needs.
func (p *Planner) schedule(s *cluster.Snapshot, open bool, took time.Duration) {
	now := p.Now()
	p.restUntil = now.Add(pause(took, pauseMin, pauseMax))
	p.recheckAt = now.Add(recheckEvery)
	if at, due := decide.NextDue(s); due && at.Before(p.recheckAt) {
		p.recheckAt = at
	}
	if retry := now.Add(retryEvery); open && retry.Before(p.recheckAt) {
		p.recheckAt = retry
	}
	if p.recheckAt.Before(p.restUntil) {
		p.recheckAt = p.restUntil
	}
}
