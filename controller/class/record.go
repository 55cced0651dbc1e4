package class

import (
	"sync"
	"time"

	"github.com/daemok/daemok/cloud/aws/nodeclass"
)

// How soon a class that is not in order is checked again: its owner may be at work on it,
// and what was just made at AWS is usable after some seconds.
const (
	retryFirst = 2 * time.Second
	retryMax   = time.Minute
)

// record is what is known of one class beside its status. One check a class is under way at
// a time, so only the list of records needs a lock.
type record struct {
	verdict  verdict
	reported map[string]string  // what was reported to its users last, by condition or field
	found    map[string]finding // checks that found what they searched for, by condition
	idle     map[string]idling  // reservations that have had room at each check

	form   *nodeclass.LaunchForm // of a spec; nil: none was rendered
	formOf nodeclass.Spec

	generation int64     // that the retries are about
	retries    int       // checks in a row that found it not in order
	dueAt      time.Time // no check before, unless the spec changed
}

// finding is when something was found that the spec of a generation selects.
type finding struct {
	generation int64
	at         time.Time
}

// postpone records a check that found the class not in order, and returns how long to wait:
// from retryFirst, doubling to retryMax, and from the start again when the spec changed.
func (k *record) postpone(c *Subject, now time.Time) time.Duration {
	if k.generation != c.GetGeneration() {
		k.generation, k.retries = c.GetGeneration(), 0
	}
	wait := min(retryFirst<<min(k.retries, 10), retryMax)
	k.retries++
	k.dueAt = now.Add(wait)
	return wait
}

// stabilize records a check that found the class in order.
func (k *record) stabilize() { k.retries, k.dueAt = 0, time.Time{} }

// left is how long no check is due: events of the class, its own status among them, lead to
// no calls to the cloud.
func (k *record) left(c *Subject, now time.Time) time.Duration {
	if k.retries == 0 || k.generation != c.GetGeneration() {
		return 0
	}
	return k.dueAt.Sub(now)
}

// records is safe for concurrent use. The zero value is ready.
type records struct {
	mu  sync.Mutex
	all map[string]*record // by class
}

func (r *records) of(class string) *record {
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.all == nil {
		r.all = map[string]*record{}
	}
	if r.all[class] == nil {
		r.all[class] = &record{reported: map[string]string{}, found: map[string]finding{}}
	}
	return r.all[class]
}

func (r *records) forget(class string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.all, class)
}
