package launch

import (
	"context"
	"slices"
	"sync"
	"time"
)

const (
	gatherIdle = 35 * time.Millisecond // no further claim for so long closes a batch, unless some are announced
	gatherMax  = time.Second           // and at the latest so long after the first
	firstBatch = 25                    // so many are launched for while the others that were announced are on their way, which are launched for together
)

// queue holds the names of claims that wait to be launched for, and of those
// that are. It is safe for concurrent use; one alone may gather and take.
type queue struct {
	wake chan struct{}

	mu        sync.Mutex
	waiting   map[string]struct{}        // not yet taken
	busy      map[string]chan<- struct{} // taken and not released, with who is to be nudged
	coming    map[string]struct{}        // announced, and not yet here
	announced bool                       // some were since all that were announced had been taken
	awaited   bool                       // pods wait for some of these
	ahead     bool                       // a first batch of those was taken
}

func newQueue() *queue {
	return &queue{
		wake: make(chan struct{}, 1), waiting: map[string]struct{}{}, busy: map[string]chan<- struct{}{}, coming: map[string]struct{}{},
	}
}

// announce says that names will be added soon: the batch under way, or the next, is closed when the last of them is
// here, or, if pods wait for them, when there are enough for a first one.
func (q *queue) announce(awaited bool, names ...string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, name := range names {
		q.coming[name] = struct{}{}
	}
	q.announced = q.announced || len(names) > 0
	q.awaited = q.awaited || awaited
}

// dismiss takes an announcement back.
func (q *queue) dismiss(name string) {
	q.mu.Lock()
	delete(q.coming, name)
	q.mu.Unlock()
	q.ring()
}

// add puts a name in, unless it is taken.
func (q *queue) add(name string) {
	q.mu.Lock()
	if _, busy := q.busy[name]; !busy {
		q.waiting[name] = struct{}{}
	}
	delete(q.coming, name)
	q.mu.Unlock()
	q.ring()
}

func (q *queue) ring() {
	select {
	case q.wake <- struct{}{}:
	default:
	}
}

// timeout is how long to wait for a further name; zero: those that were announced
// are here, or enough of them for a first batch.
func (q *queue) timeout() time.Duration {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.goesAhead():
		return 0
	case len(q.coming) > 0:
		return gatherMax
	case q.announced:
		return 0
	default:
		return gatherIdle
	}
}

// await waits for a name. It reports false when ctx ended first.
func (q *queue) await(ctx context.Context) bool {
	select {
	case <-ctx.Done():
		return false
	case <-q.wake:
		return true
	}
}

// gather waits, once one name is here, for those that are announced or, where none is,
// until no further one has come for gatherIdle. It reports false when ctx ended first.
func (q *queue) gather(ctx context.Context) bool {
	latest := time.NewTimer(gatherMax)
	defer latest.Stop()
	for {
		timeout := q.timeout()
		if timeout == 0 {
			return true
		}
		idle := time.NewTimer(timeout)
		select {
		case <-ctx.Done():
			idle.Stop()
			return false
		case <-latest.C:
			idle.Stop()
			return true
		case <-idle.C:
			return true
		case <-q.wake:
			idle.Stop()
		}
	}
}

// goesAhead reports whether what waits is launched for before all that were announced are here.
func (q *queue) goesAhead() bool {
	return q.awaited && !q.ahead && len(q.coming) > 0 && len(q.waiting) >= firstBatch
}

// take returns all names that wait, sorted; they are busy until released. Those that
// were announced and are not here yet are waited for no longer, except after a first batch.
func (q *queue) take() []string {
	q.mu.Lock()
	defer q.mu.Unlock()
	names := make([]string, 0, len(q.waiting))
	for name := range q.waiting {
		names = append(names, name)
		q.busy[name] = nil
	}
	if q.ahead = q.goesAhead(); q.ahead {
		q.ring() // from now on, for gatherMax, the others are waited for
	} else {
		clear(q.coming)
		q.announced, q.awaited = false, false
	}
	clear(q.waiting)
	slices.Sort(names)
	return names
}

// listen hears of the named claims that are nudged while they are busy.
func (q *queue) listen(ears chan<- struct{}, names ...string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, name := range names {
		q.busy[name] = ears
	}
}

// nudge asks the loop that is busy with the name to check it again.
func (q *queue) nudge(name string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	select {
	case q.busy[name] <- struct{}{}:
	default: // none listens, or the nudge is there already
	}
}

func (q *queue) release(names ...string) {
	q.mu.Lock()
	defer q.mu.Unlock()
	for _, name := range names {
		delete(q.busy, name)
	}
}

// turns lets one hand over instances of a batch at a time. After a restart the
// claims of one batch may come back in several groups, and an instance that two
// of them see free must not be given twice.
type turns struct {
	mu    sync.Mutex
	users map[string]int // by batch under way
	slots map[string]turn
}

// turn is whose turn it is: who fills it, until it is emptied.
type turn chan struct{}

func newTurns() *turns { return &turns{users: map[string]int{}, slots: map[string]turn{}} }

// enter gives the turn shared by all groups of a batch, until leave is called.
func (t *turns) enter(batch string) (its turn, leave func()) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if t.slots[batch] == nil {
		t.slots[batch] = make(turn, 1)
	}
	t.users[batch]++
	return t.slots[batch], func() {
		t.mu.Lock()
		defer t.mu.Unlock()
		if t.users[batch]--; t.users[batch] == 0 {
			delete(t.users, batch)
			delete(t.slots, batch)
		}
	}
}

// take waits for the turn; it returns ctx's error when that ends first.
func (t turn) take(ctx context.Context) error {
	select {
	case t <- struct{}{}:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

func (t turn) leave() { <-t }
