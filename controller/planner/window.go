package planner

import (
	"time"

	"github.com/daemok/daemok/kube/snapshot/pods"
)

// Window gathers pods that arrive together, so that one plan serves them all.
// It opens with the first new pod, closes when no new pod came for Idle, and
// at the latest Max after it opened. The zero value with both lengths set is
// ready to use. It is not safe for concurrent use.
type Window struct {
	Idle, Max time.Duration

	seen     map[string]struct{} // pods already counted, open or not
	openedAt time.Time           // zero while closed
	lastAt   time.Time           // when the newest pod was first seen
}

// Update takes in which pods wait now and since when. A pod that was there before does not
// prolong it; one that vanished may be new again.
func (w *Window) Update(arrivals []pods.Arrival) {
	next := make(map[string]struct{}, len(arrivals))
	for _, a := range arrivals {
		next[a.UID] = struct{}{}
		if _, known := w.seen[a.UID]; known {
			continue
		}
		if w.openedAt.IsZero() {
			w.openedAt, w.lastAt = a.At, a.At
		}
		if a.At.Before(w.openedAt) {
			w.openedAt = a.At
		}
		if a.At.After(w.lastAt) {
			w.lastAt = a.At
		}
	}
	w.seen = next
}

// ClosesAt returns when the window closes if no further pod arrives; open is
// false while there is nothing to wait for.
func (w *Window) ClosesAt() (at time.Time, open bool) {
	if w.openedAt.IsZero() {
		return time.Time{}, false
	}
	idle, latest := w.lastAt.Add(w.Idle), w.openedAt.Add(w.Max)
	if idle.After(latest) {
		return latest, true
	}
	return idle, true
}

// Close ends the window; pods seen so far stay counted.
func (w *Window) Close() { w.openedAt = time.Time{} }
