package controller

import (
	"context"
	"time"
)

// firstPlanFor is how long what can wait is held back for the first plan.
const firstPlanFor = 15 * time.Second

// Later has rounds begin once the first plan is made, which has the processors to itself until then. Where there is
// none for long, since the API server does not answer or watches are late, they begin without it.
func (p *Program) Later(rounds ...Round) []Round {
	for i := range rounds {
		rounds[i].After = p.Planned
	}
	return rounds
}

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
