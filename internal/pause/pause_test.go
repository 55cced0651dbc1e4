package pause_test

import (
	"context"
	"errors"
	"testing"
	"testing/synctest"
	"time"

	"github.com/daemok/daemok/internal/pause"
)

func TestForLastsUntilTheEndOfEither(t *testing.T) {
	tests := map[string]struct {
		ends, wait, lasts time.Duration
		want              error
	}{
		"the time is over first":             {time.Hour, time.Minute, time.Minute, nil},
		"the context ends first":             {time.Minute, time.Hour, time.Minute, context.DeadlineExceeded},
		"there is nothing to wait for":       {time.Hour, 0, 0, nil},
		"the time is over already":           {time.Hour, -time.Second, 0, nil},
		"the context has ended before":       {0, time.Hour, 0, context.DeadlineExceeded},
		"neither had any time to begin with": {0, 0, 0, context.DeadlineExceeded},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				ctx, cancel := context.WithTimeout(t.Context(), tt.ends)
				defer cancel()
				start := time.Now()
				if err := pause.For(ctx, tt.wait); !errors.Is(err, tt.want) {
					t.Errorf("For(%v) = %v, want %v", tt.wait, err, tt.want)
				}
				if lasted := time.Since(start); lasted != tt.lasts {
					t.Errorf("For(%v) lasted %v, want %v", tt.wait, lasted, tt.lasts)
				}
			})
		})
	}
}
