// Package clock is the time of an emulated cloud: the wall clock for a lab, a virtual one for tests.
//
// A virtual clock stands still until Advance moves it. It does not know which caller waits for what;
// it only promises that every channel returned by At is closed once its moment has come, earliest
// first.
package clock

import (
	"slices"
	"sync"
	"time"
)

// Clock tells the time and when a moment has come.
type Clock interface {
	Now() time.Time
	// At returns a channel that is closed once the moment has come, and a
	// function that gives up waiting. The function must be called.
	At(moment time.Time) (come <-chan struct{}, stop func())
}

// Wall is the clock on the wall, or that of a synctest bubble.
type Wall struct{}

// Now implements Clock.
func (Wall) Now() time.Time { return time.Now().UTC() }

// At implements Clock.
func (Wall) At(moment time.Time) (<-chan struct{}, func()) {
	come := make(chan struct{})
	timer := time.AfterFunc(time.Until(moment), func() { close(come) })
	return come, func() { timer.Stop() }
}

// Virtual is a clock that moves only when told to. It is safe for concurrent
// use.
type Virtual struct {
	mu      sync.Mutex
	now     time.Time
	waiting []waiter // sorted by moment
}

type waiter struct {
	moment time.Time
	come   chan struct{}
}

// NewVirtual returns a clock that stands at a moment.
func NewVirtual(now time.Time) *Virtual { return &Virtual{now: now} }

// Now implements Clock.
func (v *Virtual) Now() time.Time {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.now
}

// At implements Clock.
func (v *Virtual) At(moment time.Time) (<-chan struct{}, func()) {
	v.mu.Lock()
	defer v.mu.Unlock()
	come := make(chan struct{})
	if !moment.After(v.now) {
		close(come)
		return come, func() {}
	}
	i, _ := slices.BinarySearchFunc(v.waiting, moment, func(w waiter, m time.Time) int {
		if w.moment.After(m) {
			return 1
		}
		return -1 // after all of the same moment
	})
	v.waiting = slices.Insert(v.waiting, i, waiter{moment, come})
	return come, func() { v.forget(come) }
}

// Advance moves the clock and wakes whoever waited for a moment up to the
// new one. A negative length moves nothing.
func (v *Virtual) Advance(length time.Duration) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.now = v.now.Add(max(length, 0))
	for len(v.waiting) > 0 && !v.waiting[0].moment.After(v.now) {
		close(v.waiting[0].come)
		v.waiting = v.waiting[1:]
	}
}

func (v *Virtual) forget(come chan struct{}) {
	v.mu.Lock()
	defer v.mu.Unlock()
	v.waiting = slices.DeleteFunc(v.waiting, func(w waiter) bool { return w.come == come })
}
