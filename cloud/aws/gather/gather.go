// Package gather joins calls that many callers make at about the same moment into one call about many
// things, because AWS limits the number of calls, not of things in them.
//
// It promises that a failure about one thing is returned only to the callers that asked about it, that
// a caller which gives up cancels no other, and that no call outlives the context of the caller that
// makes it. It starts no goroutine: the first of the callers makes the call for all. It repeats no
// call that failed.
package gather

import (
	"context"
	"slices"
	"sync"
	"time"
)

// Answer is what became of one thing.
type Answer[V any] struct {
	Value V
	Err   error
}

// Calls joins calls of one kind. Its fields are set once, before its use; it
// is safe for concurrent use.
type Calls[V any] struct {
	// Do makes the call. IDs are sorted, without repeats, and may be more
	// than Max where one caller asks about so many. An ID that it does not
	// answer has the zero answer.
	Do func(ctx context.Context, ids []string) map[string]Answer[V]

	For   time.Duration                                    // how long the first caller waits for others
	Max   int                                              // so many IDs are not kept waiting
	Pause func(ctx context.Context, d time.Duration) error // waits; an error only where ctx ended

	mu   sync.Mutex
	open *round[V] // that callers may still join; nil where there is none
}

// round is one call and those who wait for it.
type round[V any] struct {
	ids     map[string]bool // guarded by Calls.mu until the round is closed
	waiting context.Context // of the first caller; ends early when there are enough
	enough  context.CancelFunc
	done    chan struct{} // closed when answers is final
	answers map[string]Answer[V]
}

// Ask asks about things together with other callers. The answers are of all
// that were asked about, shared, and must not be written. It returns an error
// only where ctx ended.
func (c *Calls[V]) Ask(ctx context.Context, ids ...string) (map[string]Answer[V], error) {
	if len(ids) == 0 {
		return nil, nil
	}
	for {
		r, leads := c.join(ctx, ids)
		if leads {
			c.lead(ctx, r)
		} else {
			select {
			case <-r.done:
			case <-ctx.Done():
			}
		}
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if r.answers != nil {
			return r.answers, nil
		}
		// Who led the round gave up: ask again with those who are left.
	}
}

// join adds IDs to the open round; it reports whether the caller opened it.
func (c *Calls[V]) join(ctx context.Context, ids []string) (r *round[V], leads bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == nil {
		c.open = &round[V]{ids: map[string]bool{}, done: make(chan struct{})}
		c.open.waiting, c.open.enough = context.WithCancel(ctx)
		leads = true
	}
	r = c.open
	for _, id := range ids {
		r.ids[id] = true
	}
	if len(r.ids) >= c.Max {
		c.open = nil
		r.enough()
	}
	return r, leads
}

// lead waits for others and makes the call. Answers stay nil where ctx ended
// before they were there.
func (c *Calls[V]) lead(ctx context.Context, r *round[V]) {
	defer close(r.done)
	defer r.enough()
	if r.waiting.Err() == nil {
		_ = c.Pause(r.waiting, c.For) // an early end is as good as a late one
	}
	ids := c.close(r)
	if ctx.Err() != nil {
		return
	}
	answers := c.Do(ctx, ids)
	if ctx.Err() != nil {
		return // what failed may have failed for that; what did not is safe to repeat
	}
	if answers == nil {
		answers = map[string]Answer[V]{}
	}
	r.answers = answers
}

// close keeps others from joining and returns the IDs in order.
func (c *Calls[V]) close(r *round[V]) []string {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.open == r {
		c.open = nil
	}
	ids := make([]string, 0, len(r.ids))
	for id := range r.ids {
		ids = append(ids, id)
	}
	slices.Sort(ids)
	return ids
}
