package main

import (
	"bytes"
	"context"
	"os"
	"runtime/debug"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A large cluster takes minutes to read: meanwhile the log says so.
func TestFillingIsReportedUntilItIsDone(t *testing.T) {
	for name, tt := range map[string]struct {
		takes time.Duration
		lines int
	}{"at once": {0, 0}, "more than a minute": {70 * time.Second, 2}} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var text bytes.Buffer
				filledAt := time.Now().Add(tt.takes)
				sayFilling(t.Context(), newLogger(&text, "info", encodingJSON), func(ctx context.Context) bool {
					select {
					case <-time.After(time.Until(filledAt)):
						return true
					case <-ctx.Done():
						return false
					}
				})
				if got := strings.Count(text.String(), "still being filled"); got != tt.lines {
					t.Errorf("%d lines, want %d:\n%s", got, tt.lines, text.String())
				}
			})
		})
	}
}

// GOGC is the user's word on how much garbage there may be.
func TestGarbageIsCollectedSoonerByDefault(t *testing.T) {
	usual := debug.SetGCPercent(100)
	t.Cleanup(func() { debug.SetGCPercent(usual) })
	t.Setenv("GOGC", "100")
	collectSooner(collectAt)
	if got := debug.SetGCPercent(100); got != 100 {
		t.Errorf("with GOGC=100 garbage is collected at %d%%", got)
	}
	if err := os.Unsetenv("GOGC"); err != nil {
		t.Fatal(err)
	}
	collectSooner(collectAt)
	if got := debug.SetGCPercent(100); got != collectAt {
		t.Errorf("without GOGC garbage is collected at %d%%, want %d%%", got, collectAt)
	}
}
