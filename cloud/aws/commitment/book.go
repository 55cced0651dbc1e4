package commitment

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
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
	readings int // of running
	unread   []cloud.UnreadCommitments
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
	var unread []cloud.UnreadCommitments
	understood := func(what, actions string, err error) bool {
		if err != nil {
			unread = append(unread, lacking(what, actions, err))
		}
		return err == nil
	}
	reserved, ends, err := r.reserved(ctx)
	if understood("Reserved Instances", ActionReserved, err) {
		b.change(func() { b.reserved = part[commitment.ReservedInstances]{reserved, ends} })
	}
	plans, ends, err := r.plans(ctx)
	if understood("Savings Plans", ActionPlans+" and "+ActionRates, err) {
		b.change(func() { b.plans = part[commitment.SavingsPlan]{plans, ends} })
	}
	running, err := r.running(ctx)
	if understood("instances that use commitments", actionInstances, err) {
		b.change(func() { b.running, b.readings = running, b.readings+1 })
	}
	var before []cloud.UnreadCommitments
	b.change(func() { before, b.unread = b.unread, unread })
	return reported(unread, before, warn)
}

// lacking is what could not be read, for which the actions are called.
func lacking(what, actions string, err error) cloud.UnreadCommitments {
	out := cloud.UnreadCommitments{What: what, Err: err, Lasting: errors.Is(err, errNoEndpoint)}
	if _, refused := errors.AsType[*cloud.RefusedError](err); refused {
		out.Rights, out.Lasting = actions, true
	}
	return out
}

// reported warns of what is not to be read until users change something, unless that was so before, and is an error of
// the rest.
func reported(unread, before []cloud.UnreadCommitments, warn func(error)) error {
	var errs []error
	for i := range unread {
		u := &unread[i]
		known := slices.ContainsFunc(before,
			func(b cloud.UnreadCommitments) bool { return b.Lasting && b.What == u.What })
		switch {
		case !u.Lasting:
			errs = append(errs, fmt.Errorf("read %s of the account: %w", u.What, u.Err))
		case !known && warn != nil:
			const unknown = "commitments of the account are known in part, and plans go on with what was read before of %s"
			warn(fmt.Errorf(unknown, u.Text(cloud.ControllersRole)))
		}
	}
	return errors.Join(errs...)
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
	out.Reading, out.Unread = b.readings, b.unread // whose list is never written again
	out.EndsAt = map[string]time.Time{}
	maps.Copy(out.EndsAt, b.reserved.endsAt)
	maps.Copy(out.EndsAt, b.plans.endsAt)
	return out
}
