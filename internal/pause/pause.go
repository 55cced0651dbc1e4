// Package pause waits, and ends early when the result is no longer needed.
//
// It promises that no timer outlives a wait. It waits by the system's clock: code under virtual time
// takes a function with the signature of For instead.
package pause

import (
	"context"
	"time"
)

// For waits for d. An error, that of ctx, says that ctx ended first; with no
// time to wait it says whether ctx has ended.
func For(ctx context.Context, d time.Duration) error {
	if d <= 0 {
		return ctx.Err()
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}
