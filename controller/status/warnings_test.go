package status

import (
	"bytes"
	"log/slog"
	"strings"
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/observe"
)

type world struct {
	warnings []snapshot.Warning
	frozen   string
	events   []observe.Event
}

func (w *world) Warnings() []snapshot.Warning { return w.warnings }
func (w *world) Frozen() string               { return w.frozen }
func (w *world) Publish(e observe.Event)      { w.events = append(w.events, e) }

func TestWhatIsNotUnderstoodIsReported(t *testing.T) {
	var log bytes.Buffer
	w := &world{warnings: []snapshot.Warning{{About: corev1.ObjectReference{Kind: "Pod", Namespace: "shop", Name: "web"}, Reason: "InvalidDoNotDisrupt", Text: `"1d" is no length`}}}
	recorder := &Warnings{Source: w, Reporter: Reporter{Events: w, Log: slog.New(slog.NewTextHandler(&log, nil))}}
	look := func(want ...string) {
		t.Helper()
		log.Reset()
		w.events = nil
		if again, err := recorder.Round(t.Context()); err != nil || again <= 0 || again > time.Minute {
			t.Fatalf("looks again in %v: %v", again, err)
		}
		lines := strings.Split(strings.TrimSuffix(log.String(), "\n"), "\n")
		if log.Len() == 0 {
			lines = nil
		}
		if len(lines) != len(want) {
			t.Fatalf("logged %q, want %q", lines, want)
		}
		for i, line := range lines {
			if !strings.Contains(line, want[i]) {
				t.Errorf("logged %q, want %q", line, want[i])
			}
		}
	}
	look("object=Pod/shop/web reason=InvalidDoNotDisrupt")
	if e := w.events; len(e) != 1 || e[0].Key != "Pod/shop/web" || !e[0].Warning || e[0].Message != `"1d" is no length` || e[0].DedupeFor < time.Hour {
		t.Errorf("events: %+v", e)
	}
	look()
	w.frozen = "frozen by ConfigMap kube-system/daemok-freeze: audit"
	look("kube-system/daemok-freeze: audit")
	look()
	saved := w.warnings
	w.warnings, w.frozen = nil, ""
	look("nodes may be disrupted again")
	w.warnings = saved
	look("object=Pod/shop/web")
}
