package commitment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"sync"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/commitment"
)

// Book is what was read last. It is safe for concurrent use; the zero value has read nothing.
type Book struct {
	mu       sync.Mutex
	reserved part[commitment.ReservedInstances]
	plans    part[commitment.SavingsPlan]
	running  []cloud.RunningInstance
	readings int             // of running
	unread   bool            // not all could be read the last time
	refused  map[string]bool // what may not be read, which was reported
}

// part is the commitments of one kind.
type part[T any] struct {
	all    []T
	endsAt map[string]time.Time // by ID
}

// Refresh reads everything. What cannot be read stays as it was, and is an error each. That a right is missing, and
// that Savings Plans cannot be asked for, is no error: warn, which may be nil, receives it once, until it can be read
// again.
func (b *Book) Refresh(ctx context.Context, r Reader, warn func(error)) error {
	var errs []error
	reserved, ends, err := r.reserved(ctx)
	if b.understood("Reserved Instances", ActionReserved, err, warn, &errs) {
		b.change(func() { b.reserved = part[commitment.ReservedInstances]{reserved, ends} })
	}
	plans, ends, err := r.plans(ctx)
	if b.understood("Savings Plans", ActionPlans+" and "+ActionRates, err, warn, &errs) {
		b.change(func() { b.plans = part[commitment.SavingsPlan]{plans, ends} })
	}
	running, err := r.running(ctx)
	if b.understood("instances that use commitments", actionInstances, err, warn, &errs) {
		b.change(func() { b.running, b.readings = running, b.readings+1 })
	}
	b.change(func() { b.unread = len(errs) > 0 })
	return errors.Join(errs...)
}

// understood reports whether something of the account could be read by the actions.
func (b *Book) understood(what, actions string, err error, warn func(error), errs *[]error) bool {
	refused := errors.Is(err, errNoEndpoint)
	if _, is := errors.AsType[*cloud.RefusedError](err); is {
		refused = true
		err = fmt.Errorf("%w; let the controller's role call %s", err, actions)
	}
	b.mu.Lock()
	known := b.refused[what]
	if b.refused == nil {
		b.refused = map[string]bool{}
	}
	b.refused[what] = refused
	b.mu.Unlock()
	switch {
	case err == nil:
		return true
	case !refused:
		*errs = append(*errs, fmt.Errorf("read %s of the account: %w", what, err))
	case !known && warn != nil:
		const unknown = "%s of the account are not known, and plans go on with those that were read before: %w"
		warn(fmt.Errorf(unknown, what, err))
	}
	return false
}

func (b *Book) change(do func()) {
	b.mu.Lock()
	defer b.mu.Unlock()
	do()
}

// Now is what was read. It must not be written.
func (b *Book) Now() (out cloud.AccountCommitments) {
	b.mu.Lock()
	defer b.mu.Unlock()
	out.Reserved, out.Plans, out.Running = b.reserved.all, b.plans.all, b.running
	out.Reading, out.Unread = b.readings, b.unread
	out.EndsAt = map[string]time.Time{}
	maps.Copy(out.EndsAt, b.reserved.endsAt)
	maps.Copy(out.EndsAt, b.plans.endsAt)
	return out
}
