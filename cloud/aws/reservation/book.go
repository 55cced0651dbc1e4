package reservation

import (
	"maps"
	"slices"
	"sync"
	"time"
)

// countedWithin is how long EC2 takes at most to count an instance that was launched into a
// reservation, or that has ended.
const countedWithin = time.Minute

// recalledFor is how long the same launch may be asked for again, and how long an instance
// is recalled that is not seen.
const recalledFor = time.Hour

// Book counts what reservations have left, and what else is had so many times only:
// what EC2 said last, less what was launched and is being launched, and with what has
// ended, as far as it has not counted that yet. A launch that is repeated under its token
// counts once. It is safe for concurrent use. NewBook makes one.
type Book struct {
	now func() time.Time

	mu        sync.Mutex
	all       map[string]*count // by name
	instances map[string]holder // by ID, as far as they are known
	seq       uint64
}

// holder is an instance that is counted.
type holder struct {
	names  []string
	seenAt time.Time // when it was last there, or its termination was asked for
	leaves bool      // its termination was asked for
}

// count is what is known of one reservation.
type count struct {
	free     int64 // as EC2 said last
	taken    int64 // since, as far as EC2 has not counted it
	tookAt   time.Time
	freed    int64 // since, as far as EC2 has not counted it
	freedAt  time.Time
	early    int64 // ends that EC2 has counted before they were seen
	earlyAt  time.Time
	launches map[string]launch // by token
}

// launch is what one launch takes.
type launch struct {
	flying int64 // instances that may come, while it is not answered
	came   int64 // instances that were counted as taken
	at     time.Time
}

func (c *count) left() int64 {
	left := c.free - c.taken + c.freed
	for _, l := range c.launches {
		left -= l.flying
	}
	return max(0, left)
}

// NewBook returns a book that knows of no reservation.
func NewBook(now func() time.Time) *Book {
	return &Book{now: now, all: map[string]*count{}, instances: map[string]holder{}}
}

// Saw takes over how much EC2 says is free now. As much as it says that there is less
// than before it has counted of what was taken, and as much as there is more of what ended
// or is about to.
func (b *Book) Saw(free map[string]int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	maps.DeleteFunc(b.instances, func(_ string, h holder) bool { return b.now().Sub(h.seenAt) >= recalledFor })
	for name, n := range free {
		b.change(name, func(c *count) {
			c.taken = max(0, c.taken-max(0, c.free-n))
			if b.now().Sub(c.tookAt) >= countedWithin {
				c.taken = 0
			}
			c.countEnds(n-c.free, b.leaving(name), b.now())
			c.free = n
			maps.DeleteFunc(c.launches, func(_ string, l launch) bool { return l.flying == 0 && b.now().Sub(l.at) >= recalledFor })
		})
	}
}

// countEnds takes in that EC2 has that many more than before: of instances that have ended,
// and else of those that leave and whose end is not seen yet.
func (c *count) countEnds(more, leaving int64, now time.Time) {
	known := min(c.freed, max(0, more))
	c.freed -= known
	if now.Sub(c.freedAt) >= countedWithin {
		c.freed = 0
	}
	if now.Sub(c.earlyAt) >= countedWithin {
		c.early = 0
	}
	if more > known {
		c.early, c.earlyAt = min(leaving, c.early+more-known), now
	}
}

// leaving is how many instances in the capacity reservation are being terminated and are still there,
// as far as is known; the lock is held.
func (b *Book) leaving(name string) (n int64) {
	for _, h := range b.instances {
		if h.leaves && slices.Contains(h.names, name) {
			n++
		}
	}
	return n
}

// ended takes in that one of the instances is there no more.
func (c *count) ended(now time.Time) {
	if c.early > 0 && now.Sub(c.earlyAt) < countedWithin {
		c.early--
		return
	}
	c.freed, c.freedAt = c.freed+1, now
}

// Begin counts n instances of the launch with the token as taken from each of the
// reservations until done is called with how many of each were, or with nil where that is
// none. Those that came at an earlier call with the token are counted already.
func (b *Book) Begin(token string, n int64, names ...string) (done func(took map[string]int64)) {
	each := func(f func(name string, c *count, l *launch)) {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, name := range names {
			b.change(name, func(c *count) {
				l := c.launches[token]
				f(name, c, &l)
				l.at = b.now()
				c.launches[token] = l
			})
		}
	}
	each(func(_ string, _ *count, l *launch) { l.flying = max(0, n-l.came) })
	return func(took map[string]int64) {
		each(func(name string, c *count, l *launch) {
			l.flying = 0
			if more := took[name] - l.came; more > 0 {
				c.taken, c.tookAt, l.came = c.taken+more, b.now(), took[name]
			}
		})
	}
}

// Full takes in that EC2 refused a launch since the reservation has no room.
func (b *Book) Full(name string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.change(name, func(c *count) { c.taken, c.tookAt, c.freed = max(c.taken, c.free), b.now(), 0 })
}

// Holds notes that an instance is there, and under which names it is counted: the first
// that were given.
func (b *Book) Holds(id string, names ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	h, known := b.instances[id]
	if !known {
		h.names = names
	}
	if len(h.names) > 0 {
		h.seenAt = b.now()
		b.instances[id] = h
	}
}

// Leaves records that the termination of instances was asked for.
func (b *Book) Leaves(ids ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		if h, known := b.instances[id]; known && !h.leaves {
			b.instances[id] = holder{h.names, b.now(), true}
		}
	}
}

// Ended takes in that instances are there no more. Those that are being terminated free
// their places at once, while EC2 may count them for a minute; of any other it may be that
// EC2 does not show it yet.
func (b *Book) Ended(ids ...string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		h := b.instances[id]
		if !h.leaves {
			continue
		}
		delete(b.instances, id)
		for _, name := range h.names {
			b.change(name, func(c *count) { c.ended(b.now()) })
		}
	}
}

// change does something to a count, and notes whether another View comes of it; the lock
// is held.
func (b *Book) change(name string, do func(*count)) {
	c := b.all[name]
	if c == nil {
		c = &count{launches: map[string]launch{}}
		b.all[name] = c
	}
	before := c.left()
	do(c)
	if c.left() != before {
		b.seq++
	}
}

// View is the book at one moment. Its Seq changes when any answer does.
type View struct {
	Seq  uint64
	left map[string]int64
}

// View copies what is left now.
func (b *Book) View() View {
	b.mu.Lock()
	defer b.mu.Unlock()
	v := View{Seq: b.seq, left: make(map[string]int64, len(b.all))}
	for id, c := range b.all {
		v.left[id] = c.left()
	}
	return v
}

// Left is how many instances the reservation has room for; 0 for one that EC2 has not
// reported yet.
func (v View) Left(id string) int64 { return v.left[id] }
