package commitment

import "time"

// The states that commitments of the account come to have, in AWS's words.
const (
	active = "active"
	queued = "queued"
	ended  = "retired"
)

// term is when a commitment holds.
type term struct{ from, to time.Time }

// termOf is the term with its defaults: it begins now and lasts for a year.
func termOf(from, to, now time.Time) term {
	if from.IsZero() {
		from = now
	}
	if to.IsZero() {
		to = from.Add(365 * 24 * time.Hour)
	}
	return term{from, to}
}

// state is that of the commitment at a moment.
func (t term) state(now time.Time) string {
	switch {
	case !t.to.After(now):
		return ended
	case t.from.After(now):
		return queued
	}
	return active
}

// seconds is how long the term is.
func (t term) seconds() int { return int(t.to.Sub(t.from) / time.Second) }
