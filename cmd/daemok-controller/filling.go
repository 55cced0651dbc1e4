package main

import (
	"context"
	"log/slog"
	"os"
	"runtime/debug"
	"time"

	"github.com/daemok/daemok/internal/pause"
)

// How much garbage there may be beside what is in use, in hundredths of that, before it is collected. Go's 100 holds
// until the caches are filled, so that the first plan comes sooner; it would have twice what is in use lie in memory.
const (
	collectFilled = 40 // once they are
	collectAt     = 25 // once the first plan is made: little garbage comes from then on
)

// firstPlanFor is how soon after the caches are filled the first plan may be expected, where this process leads.
const firstPlanFor = 15 * time.Second

// stableAfter is how long after the first plan memory that only the start needed is returned to the system. Without
// that Go would keep as much as a tenth of what is in use, and the gaps between objects that stay.
const stableAfter = time.Minute

// collectSooner sets one of them, unless GOGC is set.
func collectSooner(percent int) {
	if _, set := os.LookupEnv("GOGC"); !set {
		debug.SetGCPercent(percent)
	}
}

// fillFor is how long the caches may take to be filled before the program ends: a minute or two
// where there are 150,000 pods and the host is busy. The next start would be no faster.
const fillFor = 10 * time.Minute

// fillingEvery is how often it is said that they are not filled yet.
const fillingEvery = 30 * time.Second

// fill waits until the caches are filled and the first plan is made, and has memory hold less from then on.
func (p *parts) fill(ctx context.Context, planned <-chan struct{}) error {
	sayFilling(ctx, p.log, p.manager.GetCache().WaitForCacheSync)
	collectSooner(collectFilled)
	select {
	case <-planned:
	case <-time.After(firstPlanFor):
	case <-ctx.Done():
	}
	collectSooner(collectAt)
	if pause.For(ctx, stableAfter) == nil {
		debug.FreeOSMemory()
	}
	return nil
}

// sayFilling says every now and then that the caches are being filled, until they are or ctx ends.
func sayFilling(ctx context.Context, log *slog.Logger, filled func(context.Context) bool) {
	began := time.Now()
	for ctx.Err() == nil {
		waiting, enough := context.WithTimeout(ctx, fillingEvery)
		done := filled(waiting)
		enough()
		if done {
			return
		}
		if ctx.Err() == nil {
			log.Info("the caches are still being filled with what the API server has; no plan is made before", "forSeconds", time.Since(began).Seconds(), "mostSeconds", fillFor.Seconds())
		}
	}
}
