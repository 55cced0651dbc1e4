// Package remark reports values in users' objects that Daemok does not understand. To operators it
// reports the times at which no node is disrupted.
//
// It promises one warning event on the object concerned, repeated once a day while nothing changes,
// and one log line when something begins. It changes nothing.
package remark

import (
	"context"
	"log/slog"
	"time"

	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/observe"
)

const (
	checkEvery  = 5 * time.Second
	repeatEvery = 24 * time.Hour
)

type publisher interface{ Publish(observe.Event) }

// source knows what is not understood, and why no node may be disturbed.
type source interface {
	Warnings() []snapshot.Warning
	Frozen() string
}

// Recorder looks for such things.
type Recorder struct {
	Source source
	Events publisher
	Log    *slog.Logger

	reported map[string]bool // what is not understood, since the look before
	frozen   string
}

// Round looks once, and returns when to look again.
func (t *Recorder) Round(context.Context) (time.Duration, error) {
	reported := map[string]bool{}
	for _, r := range t.Source.Warnings() {
		key := r.About.Kind + "/" + r.About.Namespace + "/" + r.About.Name
		t.Events.Publish(observe.Event{About: &r.About, Key: key, Warning: true, Reason: r.Reason, Message: r.Text, DedupeFor: repeatEvery})
		line := key + " " + r.Text
		if reported[line] = true; !t.reported[line] {
			t.Log.Warn("a value is not understood", "object", key, "reason", r.Reason, "message", r.Text)
		}
	}
	t.reported = reported
	t.reportFreeze()
	return checkEvery, nil
}

func (t *Recorder) reportFreeze() {
	now := t.Source.Frozen()
	if now == t.frozen {
		return
	}
	if t.frozen = now; now == "" {
		t.Log.Info("nodes may be disrupted again")
		return
	}
	t.Log.Info("no node is disrupted voluntarily", "reason", now)
}
