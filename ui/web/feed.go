package web

import (
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/daemok/daemok/ui/view"
)

// How many changes are kept for browsers that were cut off, and how many bytes of them.
const (
	changesMost      = 512
	changesMostBytes = 4 << 20
)

// feed numbers the states of a cluster, and knows what changed from one to the next.
type feed struct {
	epoch string // of this process: revisions of another one say nothing here

	mu       sync.Mutex
	state    *view.Cluster // nil: none is known yet
	points   []Point
	revision uint64
	changes  [][]byte // the events that led to the newest revisions, the last one last
	bytes    int      // of changes
	all      []byte   // the event of the whole state; nil: not written yet
	next     chan struct{}

	turn chan struct{} // has a value while no one writes the whole state
}

func newFeed(epoch string) *feed {
	f := &feed{epoch: epoch, next: make(chan struct{}), turn: make(chan struct{}, 1)}
	f.turn <- struct{}{}
	return f
}

// publish makes a state the newest. One that shows the same, later, has no revision of its own. Like point it is called
// by one goroutine.
func (f *feed) publish(c *view.Cluster) {
	old := f.newest()
	if old == nil {
		f.advance(c, nil, nil)
		return
	}
	if m := between(old, c, nil); !m.empty() {
		f.advance(c, &m, nil)
		return
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.state, f.all = c, nil
}

// point adds to the history, while the newest state still holds at a later moment.
func (f *feed) point(c *view.Cluster, at time.Time, p Point) {
	now := *c
	now.At = at
	f.advance(&now, &message{At: at, Points: []Point{p}}, &p)
}

// newest is the newest state; nil: none is known yet.
func (f *feed) newest() *view.Cluster {
	f.mu.Lock()
	defer f.mu.Unlock()
	return f.state
}

// advance makes a revision: a state, what differs from the one before it (nil: there was none), and what is added to the
// history (nil: nothing).
func (f *feed) advance(c *view.Cluster, m *message, p *Point) {
	var event []byte
	if m != nil {
		event = f.event("change", f.revision+1, m) // no other goroutine writes it
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	f.revision++
	f.state, f.all = c, nil
	if p != nil {
		f.points = append(f.points, *p)
		f.points = f.points[max(0, len(f.points)-pointsMost):]
	}
	if m != nil {
		f.changes = append(f.changes, event)
		f.bytes += len(event)
		for len(f.changes) > changesMost || f.bytes > changesMostBytes {
			f.bytes -= len(f.changes[0])
			f.changes = f.changes[1:]
		}
	}
	close(f.next)
	f.next = make(chan struct{})
}

// event is an event of the stream, as its bytes.
func (f *feed) event(name string, revision uint64, m *message) []byte {
	data, err := json.Marshal(m)
	if err != nil {
		panic("web: a view is always JSON: " + err.Error())
	}
	return fmt.Appendf(nil, "id: %s.%d\nevent: %s\ndata: %s\n\n", f.epoch, revision, name, data)
}

// since returns the events after a revision, the revision that they lead to, and what is closed once there are more.
// Where the changes are not kept any more, or known is false, it is the whole state.
func (f *feed) since(revision uint64, known bool) (events [][]byte, now uint64, next <-chan struct{}) {
	f.mu.Lock()
	state, now, next := f.state, f.revision, f.next
	behind := now - revision
	kept := known && revision <= now && behind <= uint64(len(f.changes))
	if kept {
		events = slices.Clone(f.changes[len(f.changes)-int(behind):])
	}
	f.mu.Unlock()
	switch {
	case state == nil:
		return nil, revision, next
	case kept:
		return events, now, next
	}
	return f.whole()
}

// whole returns the event of the whole state, while there is one, its revision, and what is closed once there is another.
// It is written once for all browsers that ask meanwhile: that of a large cluster is megabytes.
func (f *feed) whole() (events [][]byte, now uint64, next <-chan struct{}) {
	<-f.turn
	defer func() { f.turn <- struct{}{} }()
	f.mu.Lock()
	state, points, all, now, next := f.state, f.points, f.all, f.revision, f.next
	f.mu.Unlock()
	if all == nil {
		m := whole(state, points)
		all = f.event("state", now, &m)
		f.mu.Lock()
		if f.state == state {
			f.all = all
		}
		f.mu.Unlock()
	}
	return [][]byte{all}, now, next
}

// revisionOf reads the ID of an event; known is false for one of another process.
func (f *feed) revisionOf(id string) (revision uint64, known bool) {
	text, ok := strings.CutPrefix(id, f.epoch+".")
	if !ok {
		return 0, false
	}
	revision, err := strconv.ParseUint(text, 10, 64)
	return revision, err == nil
}
