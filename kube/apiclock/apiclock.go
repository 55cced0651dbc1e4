// Package apiclock compares the clock with the API server's, and says whether it can be trusted.
//
// Ages, expiry and timeouts are computed from times that the API server wrote. A clock that jumps
// would make every node expired and every instance overdue at once. The package promises a time that
// does not jump: while the two clocks differ, Now continues from the last moment at which they agreed.
// It also reports the difference, so that nothing is disrupted or given up until they agree: the
// package does not know which of them is wrong. It sets no clock.
package apiclock

import (
	"fmt"
	"net/http"
	"sync"
	"time"
)

const (
	// differsBy is how far the clocks are apart at the least before they count as different.
	differsBy = 2 * time.Minute
	// stabilizeFor is how long they must have agreed since: of several API servers one may be
	// wrong, and each reply is another's.
	stabilizeFor = time.Minute
)

// Clock is this machine's clock, compared with the API server's by the Date header of its replies.
// Between them it notices a jump by itself, since the steady clock of the process does not jump.
// The zero value is ready, and trusts the clock until it has received a reply.
type Clock struct {
	Wall   func() time.Time     // may jump; nil: the system's
	Steady func() time.Duration // goes on evenly from any moment; nil: the system's

	once sync.Once
	mu   sync.Mutex

	heard  bool
	ahead  time.Duration // of the API server's clock, by the last reply; below zero: behind it
	at     moment        // of that reply
	agreed moment        // when the clocks agreed last, by a clock that was right then
	until  time.Duration // by the steady clock: until then they count as different
	said   time.Duration // the difference that is reported, which does not change with every second
}

// moment is the same time by two clocks.
type moment struct {
	wall   time.Time // without a monotonic reading: differences are those of the wall clock
	steady time.Duration
	read   time.Time // wall as it was read
}

func (c *Clock) moment() moment {
	c.once.Do(func() {
		if c.Wall == nil {
			c.Wall = time.Now
		}
		if c.Steady == nil {
			began := time.Now()
			c.Steady = func() time.Duration { return time.Since(began) }
		}
	})
	now := c.Wall()
	return moment{now.Round(0), c.Steady(), now}
}

// Transport hears the replies of the API server.
func (c *Clock) Transport(inner http.RoundTripper) http.RoundTripper {
	return roundTripper(func(r *http.Request) (*http.Response, error) {
		sent := c.moment()
		reply, err := inner.RoundTrip(r)
		if err != nil || reply.StatusCode >= http.StatusInternalServerError { // these may be a proxy's
			return reply, err
		}
		if date, wrong := http.ParseTime(reply.Header.Get("Date")); wrong == nil {
			c.Heard(date, c.moment().steady-sent.steady)
		}
		return reply, nil
	})
}

// Heard takes in a reply that came now, so long after its request, and that the API server
// dates to the second.
func (c *Clock) Heard(date time.Time, took time.Duration) {
	now := c.moment()
	c.mu.Lock()
	defer c.mu.Unlock()
	// The date is of any moment between request and reply: what is certain counts.
	ahead := min(now.wall.Sub(date), 0)
	if least := now.wall.Sub(date) - took - time.Second; least > 0 {
		ahead = least
	}
	c.ahead, c.at = ahead, now
	if !c.heard {
		c.heard, c.agreed = true, moment{wall: date, steady: now.steady}
	}
	c.compare(now)
}

// Now is the time in UTC that ages are reckoned with: the wall clock's or, while that
// differs, what the wall clock would say had it gone on from when they agreed. A clock
// that has differed from the start gives way to the API server's.
func (c *Clock) Now() time.Time {
	now := c.moment()
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.compare(now) {
		return c.agreed.wall.Add(now.steady - c.agreed.steady).UTC()
	}
	return now.read.UTC()
}

// Ahead is how far this machine's clock is ahead of the API server's; below zero: behind.
func (c *Clock) Ahead() time.Duration {
	now := c.moment()
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.aheadAt(now)
}

// Doubt says why the time is not to be trusted, and the way out; empty: it is.
func (c *Clock) Doubt() string {
	now := c.moment()
	c.mu.Lock()
	defer c.mu.Unlock()
	c.compare(now)
	if now.steady >= c.until {
		return ""
	}
	direction := "ahead of"
	if c.said < 0 {
		direction = "behind"
	}
	return fmt.Sprintf("the clock of this controller is %s %s the API server's, so that no age is certain: "+
		"correct the clock of the controller's node, or of the control plane (chronyc tracking, timedatectl)", c.said.Abs(), direction)
}

// Doubt says why the time is not to be trusted, or nothing where it is. The zero value
// always trusts it.
type Doubt func() string

// Why is what it says.
func (d Doubt) Why() string {
	if d == nil {
		return ""
	}
	return d()
}

// compare reports whether the clocks differ now, and notes what follows.
func (c *Clock) compare(now moment) (differ bool) {
	ahead := c.aheadAt(now)
	if ahead.Abs() < differsBy {
		c.agreed = now
		return false
	}
	if now.steady >= c.until || (ahead-c.said).Abs() >= differsBy {
		c.said = ahead.Round(time.Minute)
	}
	c.until = now.steady + stabilizeFor
	return true
}

// aheadAt is how far the clock is ahead by the last reply and by what the steady clock
// says has passed since.
func (c *Clock) aheadAt(now moment) time.Duration {
	if !c.heard {
		return 0
	}
	return c.ahead + now.wall.Sub(c.at.wall) - (now.steady - c.at.steady)
}

type roundTripper func(*http.Request) (*http.Response, error)

func (f roundTripper) RoundTrip(r *http.Request) (*http.Response, error) { return f(r) }
