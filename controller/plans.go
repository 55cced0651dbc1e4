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

// undoAgain is when stale taints are tried again.
const undoAgain = 2 * time.Second

// plans is the task that makes plans, once everything that there is has been
// seen and what an earlier process left is undone.
func (p Parts) plans(keeper *snapshot.Keeper, ledger *apply.Ledger, applier *apply.Applier, requests *claim.Requests) func(context.Context) error {
	teller := &planner.Teller{Log: p.Log, Events: p.Events, Metrics: p.Metrics, Nominations: p.Nominations, Failures: p.Failures, Pods: p.Pods,
		Workloads: planner.NewWorkloads(p.Live, p.Events)}
	loop := &planner.Planner{
		Source: keeper, Ledger: ledger, Applier: applier, Now: p.Now,
		Listener: teller,
		Preparer: &claim.Preparer{Pools: keeper, Machines: p.Machines(plansName), Log: p.Log, Requests: requests},
		Policy:   p.Policy, Effort: decide.Usual, Window: p.Window,
	}
	return func(ctx context.Context) error {
		defer applier.Wait()
		if !p.Filled(ctx) || !keeper.WaitForFirst(ctx) || !undo(ctx, p.Log, applier) {
			return nil
		}
		p.Began()
		var telling sync.WaitGroup
		defer telling.Wait()
		telling.Go(func() { teller.Workloads.Run(ctx) })
		return loop.Run(ctx)
	}
}

// undo takes off the taints that an earlier process left, before the first
// plan; it reports false when ctx ended first.
func undo(ctx context.Context, log *slog.Logger, applier *apply.Applier) bool {
	for {
		err := applier.Undo(ctx)
		if err == nil {
			return true
		}
		log.Error("could not take stale taints off, trying again", "error", err.Error())
		if pause.For(ctx, undoAgain) != nil {
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
