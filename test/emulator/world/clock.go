package world

import (
	"errors"
	"sync"
	"time"
)

// Clock is a clock that can be put forward.
type Clock struct {
	base func() time.Time
	Real bool // base is the real time, by which callers live too

	mu  sync.Mutex
	by  time.Duration
	off time.Duration // what Skew says
}

func (a *Clock) now() time.Time { return a.base().Add(a.lead()) }

func (a *Clock) lead() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.by
}

// Set puts the clock forward by a length in all.
func (a *Clock) Set(by time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.by = by
}

// Callers is the time by which what callers date is judged, and credentials expire: theirs, as far as AWS's clock is right.
func (a *Clock) Callers() time.Time { return a.base().Add(a.Skewed()) }

// Skew has the clocks of callers differ from it by a length.
func (a *Clock) Skew(by time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.off = by
}

// Skewed is by how much they differ.
func (a *Clock) Skewed() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.off
}

// Now is the time at AWS.
func (s *World) Now() time.Time { return s.Clock.now() }

// Forward puts the clocks of AWS forward, of the market too: spot prices move, what is
// scheduled comes, aliases lead to newer images. None else's clock is touched. A market that the
// server was given has a clock of its own, so that this is an error.
func (s *World) Forward(d time.Duration) error {
	switch {
	case s.shared:
		return errors.New("move the clock of AWS forward: the caller made the market and its clock")
	case d < 0:
		return errors.New("move the clock of AWS forward: it cannot go back")
	}
	s.Mu.Lock()
	s.Clock.Set(s.Clock.lead() + d)
	s.PutForward = s.Clock.lead()
	s.WakePollers()
	s.Mu.Unlock()
	s.market.Nudge()
	return nil
}

// Ahead is how far the clocks of AWS were put forward in all.
func (s *World) Ahead() time.Duration { return s.Clock.lead() }
