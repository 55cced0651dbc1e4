package reservation

import (
	"sync"
	"time"
)

// countedWithin is how long EC2 takes at most to count a machine that was launched
// into a reservation.
const countedWithin = time.Minute

// Book counts what reservations have left, and what else is had so many times only:
// what EC2 said last, less what was bought and is being bought and that it has not
// counted yet. It is safe for concurrent use. NewBook makes one.
type Book struct {
	now func() time.Time

	mu  sync.Mutex
	all map[string]count // by name
	seq uint64
}

// count is what is known of one reservation.
type count struct {
	free   int64 // as EC2 said last
	taken  int64 // since, as far as EC2 has not counted it
	flying int64 // by requests that are not answered yet
	tookAt time.Time
}

func (c count) left() int64 { return max(0, c.free-c.taken-c.flying) }

// NewBook returns a book that knows of no reservation.
func NewBook(now func() time.Time) *Book { return &Book{now: now, all: map[string]count{}} }

// Saw takes over how much EC2 says is free now. As much as it says that there is less
// than before it has counted of what was taken.
func (b *Book) Saw(free map[string]int64) {
	b.mu.Lock()
	defer b.mu.Unlock()
	for id, n := range free {
		next := b.all[id]
		next.taken = max(0, next.taken-max(0, next.free-n))
		if b.now().Sub(next.tookAt) >= countedWithin {
			next.taken = 0
		}
		next.free = n
		b.put(id, next)
	}
}

// Begin counts n machines as taken from each of the reservations until done is
// called with how many of each were.
func (b *Book) Begin(n int64, ids ...string) (done func(took map[string]int64)) {
	change := func(id string, f func(*count)) {
		c := b.all[id]
		f(&c)
		b.put(id, c)
	}
	b.mu.Lock()
	defer b.mu.Unlock()
	for _, id := range ids {
		change(id, func(c *count) { c.flying += n })
	}
	return func(took map[string]int64) {
		b.mu.Lock()
		defer b.mu.Unlock()
		for _, id := range ids {
			change(id, func(c *count) {
				c.flying -= n
				if took[id] > 0 {
					c.taken, c.tookAt = c.taken+took[id], b.now()
				}
			})
		}
	}
}

// Full takes in that EC2 refused a launch since the reservation has no room.
func (b *Book) Full(id string) {
	b.mu.Lock()
	defer b.mu.Unlock()
	c := b.all[id]
	c.taken, c.tookAt = max(c.taken, c.free), b.now()
	b.put(id, c)
}

// put keeps a count; the lock is held.
func (b *Book) put(id string, c count) {
	if b.all[id].left() != c.left() {
		b.seq++
	}
	b.all[id] = c
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

// Left is how many machines the reservation has room for; 0 for one that EC2 has
// not told of yet.
func (v View) Left(id string) int64 { return v.left[id] }
