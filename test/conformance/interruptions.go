package conformance

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
)

var interruptionMessageTests = []conformance{
	{"waiting ends with its context", func(t *testing.T, b *bench) {
		needInterruptionMessages(t, b)
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() {
			_, err := b.InterruptionMessages.Next(ctx)
			ended <- err
		}()
		cancel()
		select {
		case err := <-ended:
			if !errors.Is(err, context.Canceled) {
				t.Errorf("Next = %v, want the context's error", err)
			}
		case <-time.After(timeout):
			t.Errorf("Next still waits %v after its context was cancelled", timeout)
		}
	}},
	{"an interruption sends a message", func(t *testing.T, b *bench) {
		n := b.interrupted(t, b.spot(t))
		if n.ID == "" || n.At.IsZero() || !n.EndsAt.After(n.At) || n.Count != 1 {
			t.Errorf("message = %+v; want an ID, a moment, a later end, and count 1", n)
		}
		if err := b.InterruptionMessages.Done(t.Context(), n); err != nil {
			t.Errorf("Done: %v", err)
		}
	}},
	{"a message that is not acknowledged comes again", func(t *testing.T, b *bench) {
		if b.RedeliverIn == 0 {
			t.Skip("the subject does not say when messages come again")
		}
		id := b.spot(t)
		b.interrupted(t, id)
		b.Advance(b.RedeliverIn)
		if again := b.await(t, cloud.Interrupted, id, nil); again.InstanceID != id || again.Count != 2 {
			t.Errorf("message = %+v, want that of %s a second time", again, id)
		}
	}},
	{"an acknowledged message does not come again", func(t *testing.T, b *bench) {
		first, second := b.spot(t), b.spot(t)
		n := b.interrupted(t, first)
		if err := b.InterruptionMessages.Done(t.Context(), n); err != nil {
			t.Fatalf("Done: %v", err)
		}
		b.Advance(b.RedeliverIn)
		b.Interrupt(second)
		b.await(t, cloud.Interrupted, second, func(other cloud.InterruptionMessage) {
			if other.ID == n.ID {
				t.Errorf("message %s came again", n.ID)
			}
		})
	}},
	{"several messages are acknowledged together", func(t *testing.T, b *bench) {
		first, second := b.interrupted(t, b.spot(t)), b.interrupted(t, b.spot(t))
		if err := b.InterruptionMessages.Done(t.Context(), first, second); err != nil {
			t.Fatalf("Done: %v", err)
		}
		b.Advance(b.RedeliverIn)
		third := b.spot(t)
		b.Interrupt(third)
		b.await(t, cloud.Interrupted, third, func(other cloud.InterruptionMessage) {
			if other.ID == first.ID || other.ID == second.ID {
				t.Errorf("message %s came again", other.ID)
			}
		})
	}},
	{"the termination of an instance sends a message", func(t *testing.T, b *bench) {
		id := b.spot(t)
		terminate(t, b.Instances, []string{id}, nil)
		if b.Ended != nil {
			b.Advance(b.EndMax)
			b.Ended(id)
		}
		b.await(t, cloud.Terminated, id, nil)
	}},
}

func needInterruptionMessages(t *testing.T, b *bench) {
	t.Helper()
	if b.InterruptionMessages == nil || b.Interrupt == nil {
		t.Skip("the subject has no interruption messages")
	}
}

// spot launches one spot instance and waits until it is to be seen.
func (b *bench) spot(t *testing.T) string {
	t.Helper()
	needInterruptionMessages(t, b)
	id := b.launch(t, b.request(1, b.offerings(t, cluster.Spot, 1)...))[0].ID
	b.Advance(b.LagMax)
	return id
}

func (b *bench) interrupted(t *testing.T, id string) cloud.InterruptionMessage {
	t.Helper()
	b.Interrupt(id)
	return b.await(t, cloud.Interrupted, id, nil)
}

// await reads messages until the one wanted comes, acknowledging the others,
// which it shows to see. It gives up after a bounded number of answers.
func (b *bench) await(t *testing.T, kind cloud.InterruptionMessageKind, instanceID string, see func(cloud.InterruptionMessage)) cloud.InterruptionMessage {
	t.Helper()
	for range 20 {
		for _, n := range b.next(t) {
			if n.Kind == kind && n.InstanceID == instanceID {
				return n
			}
			if see != nil {
				see(n)
			}
			if err := b.InterruptionMessages.Done(t.Context(), n); err != nil {
				t.Fatalf("Done(%+v): %v", n, err)
			}
		}
	}
	t.Fatalf("no message %s of %s among many", kind, instanceID)
	return cloud.InterruptionMessage{}
}

// deliverIn is more than a cloud takes to deliver a message.
const deliverIn = 3 * time.Second

// timeout is how long the tests themselves wait for an answer.
const timeout = 30 * time.Second

// next waits for messages while a little of the cloud's time passes.
func (b *bench) next(t *testing.T) []cloud.InterruptionMessage {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), timeout)
	defer cancel()
	type answer struct {
		interruptionMessages []cloud.InterruptionMessage
		err                  error
	}
	came := make(chan answer, 1)
	go func() {
		interruptionMessages, err := b.InterruptionMessages.Next(ctx)
		came <- answer{interruptionMessages, err}
	}()
	b.Advance(deliverIn)
	a := <-came
	if a.err != nil {
		t.Fatalf("Next: %v", a.err)
	}
	return a.interruptionMessages
}
