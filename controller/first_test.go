package controller

import (
	"context"
	"log/slog"
	"testing"
	"testing/synctest"
	"time"
)

// What can wait does not take processors from the first plan, but comes where there is none.
func TestWhatCanWaitComesAfterTheFirstPlan(t *testing.T) {
	for name, tt := range map[string]struct {
		plannedAfter, want time.Duration
	}{
		"a plan comes":       {2 * time.Second, 2 * time.Second},
		"no plan ever comes": {time.Hour, firstPlanFor},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				planned := make(chan struct{})
				began, ctx := time.Now(), t.Context()
				ctx, end := context.WithCancel(ctx)
				program := Program{Planned: planned}
				round := program.Later(Round{What: "look", Do: func(context.Context) (time.Duration, error) {
					if waited := time.Since(began); waited != tt.want {
						t.Errorf("it began after %v, want after %v", waited, tt.want)
					}
					end()
					return 0, nil
				}})[0]
				time.AfterFunc(tt.plannedAfter, func() { close(planned) })
				if err := round.Run(ctx, slog.Default()); err != nil {
					t.Error(err)
				}
			})
		})
	}
}
