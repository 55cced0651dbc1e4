package launch

import (
	"context"
	"errors"
	"fmt"
	"sync"
	"sync/atomic"
	"testing"
	"testing/synctest"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// slow is an API server that answers lists when it is let, with what there was when it was asked.
type slow struct {
	client.Client
	lists atomic.Int32
	let   chan struct{}
	err   error
}

func (s *slow) List(ctx context.Context, list client.ObjectList, o ...client.ListOption) error {
	s.lists.Add(1)
	if err := errors.Join(s.err, s.Client.List(ctx, list, o...)); err != nil {
		return err
	}
	select {
	case <-s.let:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// inBatchOf adds a NodeClaim that a launch was tried for.
func inBatchOf(t *testing.T, store client.Client, name, batch string) {
	t.Helper()
	c := &karpv1.NodeClaim{ObjectMeta: metav1.ObjectMeta{Name: name, Annotations: map[string]string{api.AnnotationLaunchAttempt: batch + "/1"}}}
	if err := store.Create(t.Context(), c); err != nil {
		t.Error(err)
	}
}

// Hundreds of launches that end at once do not read thousands of NodeClaims hundreds of times.
func TestAllThatAskAtOnceShareAReading(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &slow{Client: storeWith("untried"), let: make(chan struct{})}
		for i := range 100 {
			inBatchOf(t, server, fmt.Sprintf("c-%d-a", i), fmt.Sprintf("b-%d", i))
			inBatchOf(t, server, fmt.Sprintf("c-%d-b", i), fmt.Sprintf("b-%d", i))
		}
		r := newRoster(server)
		var asking sync.WaitGroup
		for i := range 100 {
			asking.Go(func() {
				members, err := r.inBatch(t.Context(), fmt.Sprintf("b-%d", i))
				if err != nil || len(members) != 2 || members[0].Name != fmt.Sprintf("c-%d-a", i) || members[1].Name != fmt.Sprintf("c-%d-b", i) {
					t.Errorf("batch %d has %d members (%v), want its two", i, len(members), err)
				}
			})
		}
		synctest.Wait() // one reads, and the others wait for the next reading
		close(server.let)
		asking.Wait()
		if got := server.lists.Load(); got != 2 {
			t.Errorf("%d lists, want one for the first and one for all others", got)
		}
	})
}

// What was written before a caller asks is in the answer, whatever is being read.
func TestAnAnswerIsNotFromBeforeItsCallerAsked(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &slow{Client: storeWith(), let: make(chan struct{})}
		r := newRoster(server)
		var asking sync.WaitGroup
		for i := range 3 {
			asking.Go(func() {
				members, err := r.inBatch(t.Context(), "b")
				if err != nil || len(members) < i {
					t.Errorf("%d members (%v) for a caller that asked when there were %d", len(members), err, i)
				}
			})
			synctest.Wait()
			inBatchOf(t, server, fmt.Sprintf("c-%d", i), "b")
		}
		close(server.let)
		asking.Wait()
	})
}

// What one caller writes on the NodeClaims of its answer no other sees.
func TestCallersOfOneBatchShareNothing(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &slow{Client: storeWith(), let: make(chan struct{})}
		inBatchOf(t, server, "c-1", "b")
		r := newRoster(server)
		var asking sync.WaitGroup
		for range 3 {
			asking.Go(func() {
				members, err := r.inBatch(t.Context(), "b")
				if err != nil || len(members) != 1 || members[0].Annotations["written"] != "" {
					t.Errorf("%+v (%v), want c-1 as it is", members, err)
					return
				}
				members[0].Annotations["written"] = "true"
			})
			synctest.Wait() // one reads, and the others share the next reading
		}
		close(server.let)
		asking.Wait()
	})
}

// A caller that gives up waiting, or whose reading fails, keeps no other from the next reading.
func TestAReadingThatFailsIsFollowedByAnother(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		server := &slow{Client: storeWith(), let: make(chan struct{})}
		inBatchOf(t, server, "c-1", "b")
		r := newRoster(server)
		impatient, giveUp := context.WithCancel(t.Context())
		var asking sync.WaitGroup
		for range 2 { // one that reads, and one that waits for its turn
			asking.Go(func() {
				if _, err := r.inBatch(impatient, "b"); !errors.Is(err, context.Canceled) {
					t.Errorf("a caller that gave up got %v", err)
				}
			})
			synctest.Wait()
		}
		giveUp()
		asking.Wait()
		server.err = errors.New("connection refused")
		if _, err := r.inBatch(t.Context(), "b"); !errors.Is(err, server.err) {
			t.Errorf("got %v, want what the API server says", err)
		}
		server.err = nil
		close(server.let)
		if members, err := r.inBatch(t.Context(), "b"); err != nil || len(members) != 1 {
			t.Errorf("%d members, %v, after all was well again", len(members), err)
		}
	})
}
