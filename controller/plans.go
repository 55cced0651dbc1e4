package controller

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"github.com/daemok/daemok/controller/claim"
	"github.com/daemok/daemok/controller/planner"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/kube/apply"
	"github.com/daemok/daemok/kube/snapshot"
)

// resumeAgain is when it is tried again to take up what an earlier process left.
const resumeAgain = 2 * time.Second

// plans is the task that makes plans, once everything that there is has been
// seen and what an earlier process left is taken up.
func (p Parts) plans(keeper *snapshot.Keeper, ledger *apply.Ledger, applier *apply.Applier, requests *claim.Requests) func(context.Context) error {
	teller := &planner.Teller{Log: p.Log, Events: p.Events, Metrics: p.Metrics, Nominations: p.Nominations, Failures: p.Failures, Pods: p.Pods,
		Workloads: planner.NewWorkloads(p.Live, p.Events)}
	loop := &planner.Planner{
		Source: keeper, Ledger: ledger, Applier: applier, Now: p.Now,
		Listener: teller,
		Preparer: &claim.Preparer{Pools: keeper, Machines: p.Machines(plansName), Log: p.Log, Requests: requests},
		Policy:   p.Policy, Effort: decide.Usual, Window: p.Window,
	}
	if p.Effort != nil {
		loop.Effort = p.Effort
	}
	return func(ctx context.Context) error {
		defer applier.Wait()
		if !p.Filled(ctx) || !keeper.WaitForFirst(ctx) || !resume(ctx, p.Log, applier, teller) {
			return nil
		}
		p.Began()
		var telling sync.WaitGroup
		defer telling.Wait()
		telling.Go(func() { teller.Workloads.Run(ctx) })
		return loop.Run(ctx)
	}
}

// resume carries on, or undoes, what an earlier process began, before the first
// plan; it reports false when ctx ended first.
func resume(ctx context.Context, log *slog.Logger, applier *apply.Applier, told apply.Listener) bool {
	for {
		err := applier.Resume(ctx, told)
		if err == nil {
			return true
		}
		log.Error("could not take up what an earlier process left, trying again", "error", err.Error())
		if pause.For(ctx, resumeAgain) != nil {
			return false
		}
	}
}

// Round is something repeated by the clock. Do says when it is due again.
type Round struct {
	What string // completes "could not ..."
	Do   func(ctx context.Context) (time.Duration, error)
}

// Run repeats the round until ctx ends.
func (r Round) Run(ctx context.Context, log *slog.Logger) error {
	for ctx.Err() == nil {
		after, err := r.Do(ctx)
		if err != nil && ctx.Err() == nil {
			log.Error("could not "+r.What, "error", err.Error())
		}
		_ = pause.For(ctx, after) // the loop sees where ctx ended it
	}
	return nil
}
