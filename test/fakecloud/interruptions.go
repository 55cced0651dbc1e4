package fakecloud

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/test/market"
)

// inbox is what became of the notices. Which there are follows from the
// instances, so nothing can be lost.
type inbox struct {
	done      map[string]bool
	hidden    map[string]time.Time // handed out, and not to be seen again before
	counts    map[string]int       // how often each was handed out
	announced []cloud.InterruptionMessage
	kick      chan struct{} // closed and replaced when there is a new one
}

func newInbox() inbox {
	return inbox{done: map[string]bool{}, hidden: map[string]time.Time{}, counts: map[string]int{}, kick: make(chan struct{})}
}

// Announce sends a notice of the given kind about an instance: maintenance,
// which the market does not know.
func (c *Cloud) Announce(kind cloud.InterruptionMessageKind, instanceID string) {
	c.Send(interruptionMessage(instanceID, kind, c.clock.Now()))
}

// Send sends any notice, of instances of others and such as say nothing too. Each
// needs an ID of its own.
func (c *Cloud) Send(n cloud.InterruptionMessage) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.inbox.announced = append(c.inbox.announced, n)
	close(c.inbox.kick)
	c.inbox.kick = make(chan struct{})
}

// Next implements cloud.InterruptionMessages.
func (c *Cloud) Next(ctx context.Context) ([]cloud.InterruptionMessage, error) {
	before, after := c.faults.next(CallNext)
	if before != nil {
		return nil, fmt.Errorf("wait for interruption messages: %w", before)
	}
	for {
		changed := c.market.Changed() // taken before looking, so that no change is missed
		due, next, kick := c.collect()
		if len(due) > 0 && after != nil {
			return nil, fmt.Errorf("wait for interruption messages: %w", after)
		}
		if len(due) > 0 {
			return due, nil
		}
		if err := c.wait(ctx, next, changed, kick); err != nil {
			return nil, err
		}
	}
}

// wait returns nil when it is time to look again.
func (c *Cloud) wait(ctx context.Context, next time.Time, changed, kick <-chan struct{}) error {
	var come <-chan struct{}
	if !next.IsZero() {
		at, stop := c.clock.At(next)
		defer stop()
		come = at
	}
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-come:
	case <-changed:
	case <-kick:
	}
	return nil
}

// Done implements cloud.InterruptionMessages.
func (c *Cloud) Done(ctx context.Context, interruptionMessages ...cloud.InterruptionMessage) error {
	before, after := c.faults.next(CallDone)
	if err := firstOf(ctx.Err(), before); err != nil {
		return fmt.Errorf("acknowledge %d interruption messages: %w", len(interruptionMessages), err)
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	for _, n := range interruptionMessages {
		c.inbox.done[n.ID] = true
		delete(c.inbox.hidden, n.ID)
		delete(c.inbox.counts, n.ID)
	}
	if after != nil {
		return fmt.Errorf("acknowledge %d interruption messages: %w", len(interruptionMessages), after)
	}
	return nil
}

// collect hands out the notices that are due, in the order of their moments,
// and says when the next will be.
func (c *Cloud) collect() (due []cloud.InterruptionMessage, next time.Time, kick <-chan struct{}) {
	c.mu.Lock()
	defer c.mu.Unlock()
	now, all := c.clock.Now(), c.all()
	for _, n := range all {
		at := n.At
		if again := c.inbox.hidden[n.ID]; again.After(at) {
			at = again
		}
		switch {
		case c.inbox.done[n.ID]:
		case at.After(now):
			if next.IsZero() || at.Before(next) {
				next = at
			}
		default:
			c.inbox.hidden[n.ID] = now.Add(c.options.RedeliverIn)
			c.inbox.counts[n.ID]++
			n.Count = c.inbox.counts[n.ID]
			due = append(due, n)
		}
	}
	c.inbox.forget(all)
	return due, next, c.inbox.kick
}

// all lists every notice about an instance of this cluster, those that are
// still to come included, by moment and ID.
func (c *Cloud) all() []cloud.InterruptionMessage {
	out := slices.DeleteFunc(slices.Clone(c.inbox.announced), func(n cloud.InterruptionMessage) bool { return c.inbox.done[n.ID] })
	for _, m := range c.market.Machines() {
		if _, ours := c.recordOf(m); ours {
			out = append(out, interruptionMessagesOf(m)...)
		}
	}
	slices.SortFunc(out, func(a, b cloud.InterruptionMessage) int { return cmp.Or(a.At.Compare(b.At), cmp.Compare(a.ID, b.ID)) })
	return out
}

func interruptionMessagesOf(m market.Machine) []cloud.InterruptionMessage {
	var out []cloud.InterruptionMessage
	for _, x := range []struct {
		kind     cloud.InterruptionMessageKind
		at, ends time.Time
	}{
		{cloud.Rebalance, m.AdvisedAt, time.Time{}}, {cloud.Interrupted, m.WarnedAt, m.EndsAt},
		{cloud.HasStopped, m.StoppingAt, time.Time{}}, {cloud.Terminated, m.EndsAt, time.Time{}},
	} {
		if !x.at.IsZero() {
			n := interruptionMessage(m.ID, x.kind, x.at)
			n.EndsAt = x.ends
			out = append(out, n)
		}
	}
	return out
}

func interruptionMessage(instanceID string, kind cloud.InterruptionMessageKind, at time.Time) cloud.InterruptionMessage {
	return cloud.InterruptionMessage{ID: fmt.Sprintf("%s/%s/%d", instanceID, kind, at.UnixNano()), Kind: kind, InstanceID: instanceID, At: at}
}

// forget drops the marks of notices that exist no longer.
func (i *inbox) forget(all []cloud.InterruptionMessage) {
	if len(i.done)+len(i.hidden) <= 2*len(all)+64 {
		return
	}
	known := map[string]bool{}
	for _, n := range all {
		known[n.ID] = true
	}
	for id := range i.done {
		if !known[id] {
			delete(i.done, id)
		}
	}
	for id := range i.hidden {
		if !known[id] {
			delete(i.hidden, id)
			delete(i.counts, id)
		}
	}
	i.announced = slices.DeleteFunc(i.announced, func(n cloud.InterruptionMessage) bool { return !known[n.ID] })
}
