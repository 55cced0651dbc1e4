package status

import (
	"context"
	"time"

	"github.com/daemok/daemok/kube/snapshot"
)

// warningsEvery is how soon a value that is not understood is reported.
const warningsEvery = 5 * time.Second

// Warnings reports values in users' objects that Daemok does not understand, and logs while no node is disrupted voluntarily.
type Warnings struct {
	Reporter
	Source interface {
		Warnings() []snapshot.Warning
		Frozen() string // why no node may be disrupted; empty: they may
	}

	reported map[string]bool // in the round before
	frozen   string
}

// Round reports once, and returns when to report again.
func (r *Warnings) Round(context.Context) (time.Duration, error) {
	reported := map[string]bool{}
	for _, w := range r.Source.Warnings() {
		key := w.About.Kind + "/" + w.About.Namespace + "/" + w.About.Name
		r.warn(&w.About, key, w.Reason, w.Text)
		line := key + " " + w.Text
		if reported[line] = true; !r.reported[line] {
			r.Log.Warn("a value is not understood", "object", key, "reason", w.Reason, "message", w.Text)
		}
	}
	r.reported = reported
	switch why := r.Source.Frozen(); {
	case !becomes(&r.frozen, why):
	case why == "":
		r.Log.Info("nodes may be disrupted again")
	default:
		r.Log.Info("no node is disrupted voluntarily", "reason", why)
	}
	return warningsEvery, nil
}
