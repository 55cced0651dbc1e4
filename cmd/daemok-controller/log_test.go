package main

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/go-logr/logr"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/reconcile"

	"github.com/daemok/daemok/controller"
)

func TestAnOrderlyEndLogsNoErrors(t *testing.T) {
	ctx, stop := context.WithCancel(t.Context())
	defer stop()
	var lines strings.Builder
	log := logr.FromSlogHandler(calm{newLogger(&lines, "info", encodingJSON).Handler(), ctx}).WithName("manager").WithValues("a", 1)
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
	cut := looking(func(ctx context.Context, _ string) (time.Duration, error) { return 0, ctx.Err() })
	failing := looking(func(context.Context, string) (time.Duration, error) { return 0, errors.New("no") })
	if _, err := failing.Reconcile(ctx, reconcile.Request{}); err == nil {
		t.Error("an error while the program runs is lost")
	}
	stop()
	if _, err := cut.Reconcile(ctx, reconcile.Request{}); err != nil {
		t.Errorf("Reconcile = %v, want no error at the end", err)
	}
}

func looking(step func(context.Context, string) (time.Duration, error)) *looker {
	return newLooker(controller.Loop{Step: step})
}

// While the cache is behind, an object whose writes are in conflict is examined less and less
// often, and soon again once it is not; others do not wait for it.
func TestConflictsAreRepeatedLessAndLessOften(t *testing.T) {
	behind := true
	l := looking(func(_ context.Context, name string) (time.Duration, error) {
		if behind && name == "late" {
			return 0, apierrors.NewConflict(schema.GroupResource{Resource: "nodes"}, name, errors.New("it has changed"))
		}
		return time.Hour, nil
	})
	look := func(name string) time.Duration {
		t.Helper()
		result, err := l.Reconcile(t.Context(), reconcile.Request{NamespacedName: types.NamespacedName{Name: name}})
		if err != nil {
			t.Errorf("Reconcile(%s) = %v, want no error", name, err)
		}
		return result.RequeueAfter
	}
	looks := 0
	for waited := time.Duration(0); waited < time.Minute; looks++ {
		waited += look("late")
	}
	if looks < 15 || looks > 25 {
		t.Errorf("%d looks in a minute, want some twenty", looks)
	}
	if other := look("other"); other != time.Hour {
		t.Errorf("another object is looked at after %v, want what its look asked for", other)
	}
	behind = false
	look("late")
	behind = true
	if again := look("late"); again != conflictFirst {
		t.Errorf("after a look without conflict the next conflict is looked at after %v, want %v", again, conflictFirst)
	}
}

// Lines go to every place that is named, and one that cannot be written stops the start.
func TestLogsGoWhereTheyAreSentTo(t *testing.T) {
	folder := t.TempDir()
	one, two := filepath.Join(folder, "one"), filepath.Join(folder, "two")
	o := options{logPaths: one + ", file://" + two, logErrorPaths: two}
	lines, last, err := o.openLogs()
	if err != nil {
		t.Fatal(err)
	}
	newLogger(lines, "info", encodingConsole).Info("hello", "pool", "default")
	report(last, encodingConsole, errors.New("it is over"))
	for file, want := range map[string][]string{one: {`message=hello pool=default`}, two: {`message=hello pool=default`, `error="it is over"`}} {
		text, err := os.ReadFile(file)
		for _, words := range want {
			if err != nil || !strings.Contains(string(text), words) {
				t.Errorf("%s holds %q (%v), want %s in it", filepath.Base(file), text, err, words)
			}
		}
	}
	o.logErrorPaths = filepath.Join(folder, "none", "file")
	if _, _, err := o.openLogs(); err == nil || !strings.Contains(err.Error(), "--log-error-output-paths (LOG_ERROR_OUTPUT_PATHS): want stdout, stderr or files that can be written") {
		t.Errorf("got %v for a folder that is not there", err)
	}
}
