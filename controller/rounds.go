package controller

import (
	"context"
	"log/slog"
	"time"
)

// Round is something repeated by the clock. Do says when it is due again.
type Round struct {
	What string // completes "could not ..."
	Do   func(ctx context.Context) (time.Duration, error)
	Wake <-chan struct{} // each is a reason not to wait any longer; nil: there is none

	After <-chan struct{} // closed once the first plan is made, which the round lets go first; nil: it does not
}

// Run repeats the round until ctx ends.
func (r Round) Run(ctx context.Context, log *slog.Logger) error {
	if r.After != nil {
		await(ctx, r.After)
	}
	for ctx.Err() == nil {
		after, err := r.Do(ctx)
		if err != nil && ctx.Err() == nil {
			log.Error("could not "+r.What, "error", err.Error())
		}
		r.wait(ctx, after)
	}
	return nil
}

func (r Round) wait(ctx context.Context, d time.Duration) {
	waiting, enough := context.WithTimeout(ctx, d)
	defer enough()
	select {
	case <-waiting.Done():
	case <-r.Wake:
	}
}

// firstPlanFor is how long what can wait is held back for the first plan.
const firstPlanFor = 15 * time.Second

// await waits until the first plan is made, firstPlanFor has passed or ctx ended.
func await(ctx context.Context, planned <-chan struct{}) {
	enough := time.NewTimer(firstPlanFor)
	defer enough.Stop()
	select {
	case <-planned:
	case <-enough.C:
	case <-ctx.Done():
	}
}
