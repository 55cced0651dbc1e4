package termination

import (
	"sync"
	"time"
)

// How often the cloud is asked about one instance: soon at first, then less and less often.
const (
	checkFirst = 2 * time.Second
	checkMax   = 15 * time.Second
	looksMax   = 10_000 // instances remembered; forgetting costs an early check worst
)

// looks remembers when the cloud was asked about instances, by ID. The zero value is ready.
type looks struct {
	mu sync.Mutex
	of map[string]look
}

type look struct {
	next   time.Time // no call before
	pause  time.Duration
	sentAt time.Time // when the instance was terminated; zero: not, or to be terminated again

	missedAt time.Time // when a check did not find the instance first; zero: the last one did
}

// wait is how long the cloud may not be asked.
func (l *looks) wait(id string, now time.Time) time.Duration {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.of[id].next.Sub(now)
}

// note keeps other calls from asking for a while, each time for longer, and returns for how
// long. It is called before the question, so that one that failed is not repeated at once
// either.
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

// sent records that an instance was terminated.
func (l *looks) sent(id string, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.of[id]
	m.sentAt = now
	l.of[id] = m
}

// sendAfter has an instance terminated again if the last call was so long ago.
func (l *looks) sendAfter(id string, long time.Duration, now time.Time) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if m := l.of[id]; now.Sub(m.sentAt) >= long {
		m.sentAt = time.Time{}
		l.of[id] = m
	}
}

// isSent reports whether an instance was terminated.
func (l *looks) isSent(id string) bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	return !l.of[id].sentAt.IsZero()
}

// missed records that a check did not find an instance, and that the next is due so long
// after. It reports whether checks so far apart have missed it, and none between found it.
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

// found records that a check found an instance.
func (l *looks) found(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	m := l.of[id]
	m.missedAt = time.Time{}
	l.of[id] = m
}

// drop forgets an instance.
func (l *looks) drop(id string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	delete(l.of, id)
}
