package emulator

import (
	"errors"
	"sync"
	"time"
)

// ahead is a clock that can be put forward.
type ahead struct {
	base func() time.Time
	real bool // base is the real time, by which callers live too

	mu  sync.Mutex
	by  time.Duration
	off time.Duration // what Skew says
}

func (a *ahead) now() time.Time { return a.base().Add(a.lead()) }

func (a *ahead) lead() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.by
}

func (a *ahead) set(by time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.by = by
}

// callers is the time by which what callers date is judged, and credentials expire: theirs, as far as AWS's clock is right.
func (a *ahead) callers() time.Time { return a.base().Add(a.skewed()) }

func (a *ahead) skew(by time.Duration) {
	a.mu.Lock()
	defer a.mu.Unlock()
	a.off = by
}

func (a *ahead) skewed() time.Duration {
	a.mu.Lock()
	defer a.mu.Unlock()
	return a.off
}

// Now is the time at AWS.
func (s *Server) Now() time.Time { return s.now() }

// Forward puts the clocks of AWS forward, of the market too: spot prices move, what is
// scheduled comes, aliases lead to newer images. None else's clock is touched. A market that the
// server was given has a clock of its own, so that this is an error.
func (s *Server) Forward(d time.Duration) error {
	switch {
	case s.shared:
		return errors.New("move the clock of AWS forward: the caller made the market and its clock")
	case d < 0:
		return errors.New("move the clock of AWS forward: it cannot go back")
	}
	s.mu.Lock()
	s.clock.set(s.clock.lead() + d)
	s.st.Ahead = s.clock.lead()
	s.wakePollers()
	s.mu.Unlock()
	s.market.Nudge()
	return nil
}

// Ahead is how far the clocks of AWS were put forward in all.
func (s *Server) Ahead() time.Duration { return s.clock.lead() }
