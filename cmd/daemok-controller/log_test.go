package main

import (
	"context"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"
)

func TestAnOrderlyEndLogsNoErrors(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var lines strings.Builder
	log := logr.FromSlogHandler(calm{newLogger(&lines, "info").Handler(), ctx}).WithName("manager").WithValues("a", 1)
	log.Error(errors.New("lease is gone"), "leader election lost")
	if !strings.Contains(lines.String(), `"level":"ERROR"`) {
		t.Errorf("while the program runs an error is logged as\n%s", lines.String())
	}
	lines.Reset()
	stop()
	log.Error(errors.New("lease is gone"), "leader election lost")
	if got := lines.String(); !strings.Contains(got, `"level":"INFO"`) || !strings.Contains(got, "lease is gone") || !strings.Contains(got, `"a":1`) {
		t.Errorf("at the end the same is logged as\n%s\nwant the level INFO and all it says", got)
	}
}

func TestALookCutShortByTheEndIsNoError(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	cut := step(func(ctx context.Context, _ string) (time.Duration, error) { return 0, ctx.Err() })
	failing := step(func(context.Context, string) (time.Duration, error) { return 0, errors.New("no") })
	if _, err := failing.Reconcile(ctx, reconcile.Request{}); err == nil {
		t.Error("an error while the program runs is lost")
	}
	stop()
	if _, err := cut.Reconcile(ctx, reconcile.Request{}); err != nil {
		t.Errorf("Reconcile = %v, want no error at the end", err)
	}
}
