package parallel

import "sync/atomic"

// Once keeps what is worked out from a value that none writes any more, for
// whoever needs it again. It is part of that value, and must not be copied: a
// copy may be written. The zero value keeps nothing.
type Once[T any] struct{ made atomic.Pointer[T] }

// Get returns what is kept, or what is made now. Several may make it at the same
// time; it has to come out the same for all of them.
func (o *Once[T]) Get(do func() *T) *T {
	if known := o.made.Load(); known != nil {
		return known
	}
	o.made.CompareAndSwap(nil, do())
	return o.made.Load()
}
