package main

import (
	"bytes"
	"context"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// A large cluster takes minutes to read: meanwhile the log says so.
func TestFillingIsToldOfUntilItIsDone(t *testing.T) {
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
