package store

import (
	"context"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/runtime/schema"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

type change int

const (
	added change = iota
	modified
	deleted
)

type event struct {
	what   change
	object client.Object // shared: not to be written
	at     time.Time     // when it happened
}

// stream is one watch of one kind. Events wait in it without limit.
type stream struct {
	kind    schema.GroupVersionKind
	began   uint64 // revision that it goes on from
	changed uint64 // of the last change of its kind until then
	wake    chan struct{}

	mu     sync.Mutex
	events []event
	broken bool // the rest is lost: list again
}

// watch lists a kind and follows it from there.
func (s *Server) watch(kind schema.GroupVersionKind) ([]client.Object, *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	w := &stream{kind: kind, began: s.revision, changed: s.changed[kind], wake: make(chan struct{}, 1)}
	s.streams[w] = struct{}{}
	return s.all(kind), w
}

// listed is what there is of a kind, not to be written, and at which revision.
func (s *Server) listed(kind schema.GroupVersionKind) ([]client.Object, uint64) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.all(kind), s.revision
}

func (s *Server) unwatch(w *stream) {
	s.mu.Lock()
	defer s.mu.Unlock()
	delete(s.streams, w)
}

// CutWatches breaks every watch, as a restart of an API server does: what
// was not delivered yet is lost, and watchers list again.
func (s *Server) CutWatches() {
	s.mu.Lock()
	defer s.mu.Unlock()
	for w := range s.streams {
		w.mu.Lock()
		w.events, w.broken = nil, true
		w.mu.Unlock()
		w.signal()
	}
	clear(s.streams)
}

func (w *stream) push(e event) {
	w.mu.Lock()
	w.events = append(w.events, e)
	w.mu.Unlock()
	w.signal()
}

func (w *stream) signal() {
	select {
	case w.wake <- struct{}{}:
	default:
	}
}

// next waits for an event; ok is false when the watch broke or ctx ended.
func (w *stream) next(ctx context.Context) (e event, ok bool) {
	for {
		w.mu.Lock()
		if len(w.events) > 0 {
			e, w.events = w.events[0], w.events[1:]
			w.mu.Unlock()
			return e, true
		}
		broken := w.broken
		w.mu.Unlock()
		if broken {
			return event{}, false
		}
		select {
		case <-ctx.Done():
			return event{}, false
		case <-w.wake:
		}
	}
}
