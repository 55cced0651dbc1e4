package termination

import (
	"sync"
	"time"
)

// How often the cloud is asked about one machine: soon at first, then less
// and less often.
const (
	checkFirst = 2 * time.Second
	checkMax   = 15 * time.Second
	looksMax   = 10_000 // machines remembered; forgetting costs an early look at worst
)

// looks remembers when the cloud was asked about machines, by ID. The zero
// value is ready.
type looks struct {
	mu sync.Mutex
	of map[string]look
}

type look struct {
	next   time.Time // nobody asks before
	pause  time.Duration
	sentAt time.Time // when the machine was given back; zero: not, or to be given back again

	missedAt time.Time // when a look did not find the machine first; zero: the last one did
}

// wait is how long nobody may ask.
func (l *looks) wait(id string, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of[id].next.Sub(now)
}

// note keeps others from asking for a while, each time for longer, and
// returns for how long. It comes before the question, so that one that failed
// is not repeated at once either.
func (l *looks) note(id string, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.of == nil || len(l.of) > looksMax {
		l.of = map[string]look{}
	}
	m := l.of[id]
	m.pause = min(max(m.pause*2, checkFirst), checkMax)
	m.next = now.Add(m.pause)
	l.of[id] = m
	return m.pause
}

// sent notes that a machine was given back.
func (l *looks) sent(id string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.of[id]
	m.sentAt = now
	l.of[id] = m
}

// sendAfter has a machine given back again if it was so long ago.
func (l *looks) sendAfter(id string, long time.Duration, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m := l.of[id]; now.Sub(m.sentAt) >= long {
		m.sentAt = time.Time{}
		l.of[id] = m
	}
}

// isSent reports whether a machine was given back.
func (l *looks) isSent(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.of[id].sentAt.IsZero()
}

// missed notes that a look did not find a machine, and that the next is due so long
// after. It reports whether looks so far apart have missed it, and none between found it.
func (l *looks) missed(id string, apart time.Duration, now time.Time) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.of[id]
	if m.missedAt.IsZero() {
		m.missedAt, m.next = now, now.Add(apart)
		l.of[id] = m
	}
	return now.Sub(m.missedAt) >= apart
}

// found notes that a look found a machine.
func (l *looks) found(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.of[id]
	m.missedAt = time.Time{}
	l.of[id] = m
}

// drop forgets a machine.
func (l *looks) drop(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.of, id)
}
