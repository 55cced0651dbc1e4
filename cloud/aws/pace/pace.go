// Package pace delays calls to EC2 while EC2 throttles them, so that the few calls an account has are
// used where they matter most.
//
// It promises that calls go at once while none is throttled, and that each throttled action is slowed
// down separately, to about the rate that EC2 accepts, and released when EC2 has accepted calls for a
// while. Of the waiting calls, those that terminate instances go before those that launch, and these
// before others, as long as they draw on the same allowance: EC2 counts calls that change something
// and calls that read separately. Calls of the same kind go in the order in which they came. It
// repeats nothing: the SDK does that.
package pace

import (
	"context"
	"strings"
	"sync"
	"time"
)

const (
	// firstWrites and firstReads are how far apart calls are once the first was throttled:
	// half of what EC2 grants to an account in the long run (5 calls a second that change
	// something, 20 that read).
	firstWrites = 400 * time.Millisecond
	firstReads  = 100 * time.Millisecond
	// apartMost is how far apart calls are at most.
	apartMost = 10 * time.Second
	// quietFor is after how long without throttling an action is not slowed at all.
	quietFor = time.Minute
	// recheck is how often a call that is not first in turn checks whether it is.
	recheck = 25 * time.Millisecond
)

// Pace is the calls of one account. It is safe for concurrent use. New makes one.
type Pace struct {
	now   func() time.Time
	pause func(context.Context, time.Duration) error

	mu      sync.Mutex
	gates   map[string]*gate // by action, of those that were throttled
	waiting []*ticket
	tickets uint64
}

// gate is how one action is slowed.
type gate struct {
	apart  time.Duration // between calls
	next   time.Time     // when the next may go
	slowed time.Time     // when it was throttled last
}

// ticket is a call that waits.
type ticket struct {
	action string
	writes bool
	rank   int
	number uint64
}

// New returns a pace that holds nothing back. It waits with pause, which returns
// an error only where its context ended.
func New(now func() time.Time, pause func(context.Context, time.Duration) error) *Pace {
	return &Pace{now: now, pause: pause, gates: map[string]*gate{}}
}

// Wait returns when a call of the action may go to EC2, or with ctx's error.
func (p *Pace) Wait(ctx context.Context, action string) error {
	mine := p.enter(action)
	defer p.leave(mine)
	for {
		after := p.try(mine)
		if after <= 0 {
			return nil
		}
		if err := p.pause(ctx, after); err != nil {
			return err
		}
	}
}

// Answered says what became of a call.
func (p *Pace) Answered(action string, throttled bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	g := p.gates[action]
	switch {
	case throttled && g == nil:
		g = &gate{apart: firstReads, slowed: now}
		if writes(action) {
			g.apart = firstWrites
		}
		g.next = now.Add(g.apart)
		p.gates[action] = g
	case throttled:
		if now.Sub(g.slowed) >= g.apart { // several that were on their way at once are one sign
			g.apart, g.slowed = min(2*g.apart, apartMost), now
		}
		if next := now.Add(g.apart); next.After(g.next) {
			g.next = next
		}
	case g == nil:
	case now.Sub(g.slowed) >= quietFor:
		delete(p.gates, action)
	default:
		g.apart -= g.apart / 20
	}
}

func (p *Pace) enter(action string) *ticket {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.tickets++
	mine := &ticket{action: action, writes: writes(action), rank: rank(action), number: p.tickets}
	p.waiting = append(p.waiting, mine)
	return mine
}

func (p *Pace) leave(mine *ticket) {
	p.mu.Lock()
	defer p.mu.Unlock()
	for i, t := range p.waiting {
		if t == mine {
			p.waiting = append(p.waiting[:i], p.waiting[i+1:]...)
			return
		}
	}
}

// try lets a call go, or says when to try again.
func (p *Pace) try(mine *ticket) (again time.Duration) {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	for _, t := range p.waiting {
		if t != mine && p.gates[t.action] != nil && t.before(mine) {
			return recheck
		}
	}
	g := p.gates[mine.action]
	if g == nil {
		return 0
	}
	if left := g.next.Sub(now); left > 0 {
		return left
	}
	g.next = now.Add(g.apart)
	return 0
}

// before reports whether t goes first where both wait.
func (t *ticket) before(o *ticket) bool {
	switch {
	case t.writes != o.writes:
		return false
	case t.rank != o.rank:
		return t.rank < o.rank
	}
	return t.action == o.action && t.number < o.number
}

// writes reports whether the action changes something.
func writes(action string) bool {
	return !strings.HasPrefix(action, "Describe") && !strings.HasPrefix(action, "Get") && !strings.HasPrefix(action, "List")
}

// rank orders actions by what waits for them: cost, then pods, then nothing.
func rank(action string) int {
	switch action {
	case "TerminateInstances", "DescribeInstances": // instances are looked up before they are terminated
		return 0
	case "CreateFleet", "CreateLaunchTemplate", "RunInstances", "DescribeInstanceStatus", "DescribeSubnets":
		return 1
	}
	return 2
}
