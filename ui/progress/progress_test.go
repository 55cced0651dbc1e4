package progress

import (
	"bytes"
	"context"
	"fmt"
	"strings"
	"testing"
	"testing/synctest"
	"time"
)

// watched is what a terminal of 40 columns is sent while a command works, in virtual time.
func watched(t *testing.T, work func(l *Line)) string {
	t.Helper()
	var out bytes.Buffer
	synctest.Test(t, func(t *testing.T) {
		ctx, cancel := context.WithCancel(t.Context())
		l := start(ctx, &out, "reading the cluster", 40)
		work(l)
		l.Stop()
		cancel()
		synctest.Wait()
	})
	return strings.ReplaceAll(out.String(), "\r\x1b[K", "|")
}

// pass lets virtual time go by.
func pass(d time.Duration) {
	time.Sleep(d)
	synctest.Wait()
}

func TestTheLine(t *testing.T) {
	tests := map[string]struct {
		work func(l *Line)
		want string
	}{
		"a quick step shows nothing": {func(*Line) { pass(1900 * time.Millisecond) }, ""},
		"a slow step is shown from two seconds on, and gone at the end": {func(*Line) { pass(4500 * time.Millisecond) },
			"|reading the cluster ... 2s|reading the cluster ... 3s|reading the cluster ... 4s|"},
		"another step has its own two seconds": {func(l *Line) {
			pass(2500 * time.Millisecond)
			l.Step("asking AWS for %d classes", 3)
			pass(1900 * time.Millisecond)
		}, "|reading the cluster ... 2s|"},
		"a line is never wider than the terminal": {func(l *Line) {
			l.Step("%s", strings.Repeat("w", 60))
			pass(2500 * time.Millisecond)
		}, "|" + strings.Repeat("w", 38) + "~|"},
		"control characters do not reach the terminal": {func(l *Line) {
			l.Step("class \x1b[2J")
			pass(2500 * time.Millisecond)
		}, "|class \ufffd[2J ... 2s|"},
		"what is printed takes its place": {func(l *Line) {
			pass(2500 * time.Millisecond)
			fmt.Fprint(l.Over(l.out), "a note\n")
			pass(time.Second)
		}, "|reading the cluster ... 2s|a note\n|reading the cluster ... 3s|"},
		"nothing is shown after the end": {func(l *Line) { l.Stop(); pass(5 * time.Second) }, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := watched(t, tt.work); got != tt.want {
				t.Errorf("the terminal got %q; want %q", got, tt.want)
			}
		})
	}
}

func TestAPipeHasNoLine(t *testing.T) {
	var out bytes.Buffer
	l := Start(t.Context(), &out, "reading the cluster")
	l.Step("another")
	l.Stop()
	if l != nil || out.Len() > 0 {
		t.Errorf("a pipe got %q", out.String())
	}
}
