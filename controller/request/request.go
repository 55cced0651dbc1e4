// Package request serves ProvisioningRequests: it reads what they name, decides when their capacity is sought
// again, and reports in their status and by events what plans come to.
//
// It promises that a request is Provisioned only once all of its capacity is on nodes and launched instances, and that
// nothing of what it needs to go on is lost in a restart. It decides nothing about nodes.
package request

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"math/bits"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/plan"
	v1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/provisioningrequest"
	"github.com/daemok/daemok/kube/snapshot/requests"
	"github.com/daemok/daemok/observe"
)

const (
	// idleEvery is when a round comes at the latest.
	idleEvery = 5 * time.Minute
	// retryEvery is when it is tried again to read what could not be read or was not there, or to write a status.
	retryEvery = 10 * time.Second
	// conflictEvery is when a status is written again that has changed since it was seen.
	conflictEvery = time.Second
	// backoffLeast and backoffMost are for how long no plan seeks the capacity of a request that was not found.
	backoffLeast, backoffMost = time.Minute, 10 * time.Minute
	// lostFor is for how long booked capacity must be lost before that is reported: a node may come back.
	lostFor = time.Minute
)

// known is what the cluster state knows of requests.
type known interface {
	States() []requests.State
	Resolved(r provisioningrequest.Resolved)
	Provisioned(name types.NamespacedName, at time.Time)
	Retry(name types.NamespacedName, at time.Time)
}

// Parts is what a Server stands on.
type Parts struct {
	Store  client.Client // writes status; nil: none is written
	Live   client.Reader
	Known  known
	Events interface{ Publish(e observe.Event) }
	Log    *slog.Logger
	Now    func() time.Time
}

// Server serves requests. Build it with New.
type Server struct {
	Parts
	Wake <-chan struct{} // a round is due

	wake chan struct{}

	mu    sync.Mutex
	about map[types.NamespacedName]progress
}

// progress is what plans say of one request.
type progress struct {
	uid       types.UID      // of the request; empty: no round has seen it yet
	waits     string         // why the newest plan did not seek its capacity; empty: it did
	planned   plan.Requested // by the newest plan that sought its capacity or keeps it
	failures  int            // plans in a row that did not find it
	lostSince time.Time      // booked capacity is lost; zero: it is not
}

// New returns a Server that has seen nothing.
func New(p Parts) *Server {
	wake := make(chan struct{}, 1)
	return &Server{Parts: p, Wake: wake, wake: wake, about: map[types.NamespacedName]progress{}}
}

// Newest takes in what a plan says of requests; one that was made for some of the pods alone says nothing.
func (s *Server) Newest(p plan.Plan) {
	now, news := s.Now(), false
	retries := map[types.NamespacedName]time.Time{}
	s.mu.Lock()
	for i := range p.Requested {
		x := &p.Requested[i]
		name := types.NamespacedName{Namespace: x.Namespace, Name: x.Name}
		before, known := s.about[name]
		next := before.after(x, now)
		s.about[name] = next
		news = news || !known || before.waits != next.waits || before.planned.String() != next.planned.String()
		if x.Waits == "" && !x.Booked && x.Missing > 0 {
			retries[name] = now.Add(next.backoff())
		}
	}
	s.mu.Unlock()
	for name, at := range retries {
		s.Known.Retry(name, at)
	}
	if news {
		s.poke()
	}
}

// after is the progress once a plan was made.
func (p progress) after(x *plan.Requested, now time.Time) progress {
	if p.waits = x.Waits; x.Waits != "" {
		return p
	}
	p.planned = *x
	switch {
	case x.Missing == 0:
		p.failures, p.lostSince = 0, time.Time{}
	case !x.Booked:
		p.failures++
	case p.lostSince.IsZero():
		p.lostSince = now
	}
	return p
}

// backoff is for how long no plan seeks the capacity after it was not found so often.
func (p progress) backoff() time.Duration {
	return min(backoffLeast<<min(p.failures-1, 10), backoffMost)
}

func (s *Server) poke() {
	select {
	case s.wake <- struct{}{}:
	default: // one is about to come
	}
}

// Round reads what requests name, and writes what is to be said of them. It returns when the next round is due.
func (s *Server) Round(ctx context.Context) (time.Duration, error) {
	again, errs := idleEvery, []error(nil)
	for _, r := range s.Known.States() {
		if r.Known && r.NotReady.Message == "" || provisioningrequest.Over(r.Object) != "" {
			continue
		}
		resolved, err := provisioningrequest.Resolve(ctx, s.Live, r.Object)
		if err != nil {
			errs, again = append(errs, err), retryEvery
			continue
		}
		s.Known.Resolved(resolved)
		if resolved.NotReady.Message != "" {
			again = retryEvery
		}
	}
	is := map[types.NamespacedName]bool{}
	for _, r := range s.Known.States() {
		is[r.Name()] = true
		s.isOf(r.Name(), r.Object)
		next, err := s.report(ctx, &r)
		again = min(again, next)
		if err != nil {
			errs, again = append(errs, err), min(again, retryEvery)
		}
	}
	s.forget(is)
	return again, errors.Join(errs...)
}

// isOf begins anew with a request that another one of its name was before. The back-off of one whose capacity was sought
// by another process goes on.
func (s *Server) isOf(name types.NamespacedName, r *v1.ProvisioningRequest) {
	s.mu.Lock()
	defer s.mu.Unlock()
	p := s.about[name]
	if p.uid != "" && p.uid != r.UID {
		p = progress{}
	} else if p.uid == "" && (p.planned.Name == "" || p.planned.Missing > 0) {
		p.failures = max(p.failures, failuresOf(r, s.Now()))
	}
	p.uid = r.UID
	s.about[name] = p
}

// failuresOf is how many plans in a row found no capacity for a request, by since when its status says so: each waited
// twice as long as the one before.
func failuresOf(r *v1.ProvisioningRequest, now time.Time) int {
	c := condition.Get(r, v1.RequestProvisioned)
	if c == nil || c.Status != metav1.ConditionFalse || c.Reason != v1.ReasonCapacityIsNotFound {
		return 0
	}
	return bits.Len64(uint64(max(0, now.Sub(c.LastTransitionTime.Time)) / backoffLeast))
}

// forget drops what plans said of requests that are gone.
func (s *Server) forget(is map[types.NamespacedName]bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for name := range s.about {
		if !is[name] {
			delete(s.about, name)
		}
	}
}

// report writes the status of a request if there is news of it. It returns when there may be more.
func (s *Server) report(ctx context.Context, r *requests.State) (time.Duration, error) {
	now, name := s.Now(), r.Name()
	s.mu.Lock()
	about := s.about[name]
	s.mu.Unlock()
	next := r.Object.DeepCopy()
	said := setStatus(next, r, about, now)
	if !equality.Semantic.DeepEqual(r.Object.Status, next.Status) && s.Store != nil {
		patch := client.MergeFromWithOptions(r.Object, client.MergeFromWithOptimisticLock{})
		switch err := s.Store.Status().Patch(ctx, next, patch); {
		case apierrors.IsConflict(err):
			return conflictEvery, nil // the watch will show what it has become
		case apierrors.IsNotFound(err):
			return idleEvery, nil
		case err != nil:
			return retryEvery, fmt.Errorf("write status of ProvisioningRequest %s: %w", name, err)
		}
	}
	if said.Reason != "" {
		said.About, said.Key = r.Object, "ProvisioningRequest/"+name.String()
		s.Events.Publish(said)
		s.Log.Info("ProvisioningRequest", "namespace", name.Namespace, "name", name.Name,
			"state", said.Reason, "message", said.Message)
	}
	if at := provisioningrequest.ProvisionedAt(next); !at.IsZero() && r.ProvisionedAt.IsZero() {
		s.Known.Provisioned(name, at)
		r.ProvisionedAt = at
	}
	return dueIn(r, about, now), nil
}

// dueIn is when the clock alone brings news of a request.
func dueIn(r *requests.State, about progress, now time.Time) time.Duration {
	if provisioningrequest.Over(r.Object) != "" {
		return idleEvery
	}
	due := r.ProvisionedAt.Add(provisioningrequest.BookedFor)
	if r.ProvisionedAt.IsZero() {
		due, _ = provisioningrequest.ValidUntil(r.Object) // what cannot be read has failed
	} else if !about.lostSince.IsZero() {
		due = about.lostSince.Add(lostFor)
	}
	if !due.After(now) {
		return idleEvery
	}
	return min(idleEvery, due.Sub(now))
}
