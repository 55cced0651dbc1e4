package main

import (
	"context"
	"errors"
	"testing"
	"time"
)

// TestARefreshThatFailedIsTriedAgainSoon: prices are read twice a day, but
// not knowing them for half a day because AWS was busy once would be expensive.
func TestARefreshThatFailedIsTriedAgainSoon(t *testing.T) {
	calls, answer := 0, error(nil)
	round := later(12*time.Hour, 12*time.Hour, func(context.Context) error { calls++; return answer })
	for _, step := range []struct {
		says  string
		fails error
		calls int
		after time.Duration
	}{
		{"the start has just read", nil, 0, 12 * time.Hour},
		{"AWS is busy", errors.New("throttled"), 1, retryRefresh},
		{"AWS answers", nil, 2, 12 * time.Hour},
	} {
		answer = step.fails
		after, err := round(t.Context())
		if after != step.after || calls != step.calls || !errors.Is(err, step.fails) {
			t.Errorf("%s: next look after %v (%v), %d calls; want after %v, %d calls", step.says, after, err, calls, step.after, step.calls)
		}
	}
	calls, answer = 0, nil
	failed := later(retryRefresh, 12*time.Hour, func(context.Context) error { calls++; return answer })
	for _, want := range []time.Duration{retryRefresh, 12 * time.Hour} {
		if after, err := failed(t.Context()); after != want || err != nil {
			t.Errorf("after a start that failed to read: next look after %v (%v), want after %v", after, err, want)
		}
	}
}
