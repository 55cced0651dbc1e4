package parallel

import "sync"

// Spare keeps things that take long to make and that one goroutine may use at a
// time, for the next one that needs one. The zero value has none. Whoever takes
// one must not be able to tell which it is.
type Spare[T any] struct {
	mu   sync.Mutex
	list []T // guarded by mu
}

// Take returns a spare thing; ok is false where there is none.
func (s *Spare[T]) Take() (thing T, ok bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	n := len(s.list)
	if n == 0 {
		return thing, false
	}
	thing = s.list[n-1]
	s.list = s.list[:n-1]
	return thing, true
}

// Give makes a thing spare.
func (s *Spare[T]) Give(thing T) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.list = append(s.list, thing)
}
