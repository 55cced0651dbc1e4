// Package buffer resolves CapacityBuffers as they change, and what they name, and reports in their status where plans keep
// capacity for them.
//
// It promises that no plan removes a node before every buffer was resolved once. It decides nothing about nodes.
package buffer

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"slices"
	"strings"
	"sync"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/cache"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/buffer"
	"github.com/daemok/daemok/kube/snapshot/buffers"
)

const (
	// againEvery is how often every buffer is resolved again: a PriorityClass that its pods name may have changed.
	againEvery = 5 * time.Minute
	// retryEvery is when it is tried again to read what could not be read, or to write a status.
	retryEvery = 10 * time.Second
	// absentEvery is how often it is asked whether the kind is installed, and may be listed.
	absentEvery = time.Minute
)

// known receives buffers, and says what they come to.
type known interface {
	Are(list []buffer.Resolved)
	States() []buffers.State
}

// Resolver follows buffers. Build it with New.
type Resolver struct {
	Parts
	Wake <-chan struct{} // a round is due

	watches  *watches
	resolved map[types.NamespacedName]buffer.Resolved
	all      bool      // each was resolved once
	againAt  time.Time // all are resolved again then
	refused  string    // what was said last of why there are none

	mu      sync.Mutex
	planned map[types.NamespacedName]plan.Buffer // by the newest plan
}

// Parts is what a Resolver stands on.
type Parts struct {
	Store   client.Client // writes status; nil: none is written
	Live    client.Reader
	Watches cache.Informers
	Known   known // what the cluster state knows of buffers
	Log     *slog.Logger
	Now     func() time.Time
	// Watched is called once CapacityBuffers are watched; may be nil.
	Watched func(ctx context.Context, of client.Object) error
}

// New returns a Resolver that has seen nothing.
func New(p Parts) *Resolver {
	w := newWatches(p)
	return &Resolver{Parts: p, Wake: w.wake, watches: w, resolved: map[types.NamespacedName]buffer.Resolved{}}
}

// List returns the buffers that are served, sorted by namespace and name. They must not be written.
func (r *Resolver) List() []*v1beta1.CapacityBuffer { return r.watches.ours() }

// Newest takes in what a plan says of buffers; one that was made for some of the pods alone says nothing.
func (r *Resolver) Newest(p plan.Plan) {
	if p.Buffers == nil {
		return
	}
	next := map[types.NamespacedName]plan.Buffer{}
	for i := range p.Buffers {
		next[types.NamespacedName{Namespace: p.Buffers[i].Namespace, Name: p.Buffers[i].Name}] = p.Buffers[i]
	}
	r.mu.Lock()
	changed := !maps.EqualFunc(r.planned, next, func(a, b plan.Buffer) bool { return a.String() == b.String() })
	r.planned = next
	r.mu.Unlock()
	if changed {
		r.watches.poke()
	}
}

// Round resolves what has changed, and writes what is to be said of it. It returns when the next round is due.
func (r *Resolver) Round(ctx context.Context) (time.Duration, error) {
	switch follows, err := r.watches.buffers(ctx); {
	case err != nil:
		return retryEvery, err
	case follows != "":
		r.refuse(follows)
		return absentEvery, nil
	}
	r.refused = ""
	if !r.againAt.After(r.Now()) {
		r.watches.allStale()
		r.againAt = r.Now().Add(againEvery)
	}
	for name := range r.resolved {
		if until := r.resolved[name].Until; !until.IsZero() && !until.After(r.Now()) {
			r.watches.stale(name)
		}
	}
	err := errors.Join(r.resolve(ctx), r.report(ctx))
	if err != nil {
		return retryEvery, err
	}
	return r.nextAt().Sub(r.Now()), nil
}

// nextAt is when buffers are to be resolved again: all of them, or one whose hours change.
func (r *Resolver) nextAt() time.Time {
	at := r.againAt
	for _, b := range r.resolved {
		if !b.Until.IsZero() && b.Until.Before(at) {
			at = b.Until
		}
	}
	return at
}

// refuse goes on without buffers, and says why once.
func (r *Resolver) refuse(why string) {
	r.Known.Are(nil)
	if why != r.refused && why != absent {
		r.Log.Warn("no capacity is kept for CapacityBuffers", "reason", why)
	}
	r.refused = why
}

// resolve reads what stale buffers name. Those that cannot be read are as they were, and stay stale.
func (r *Resolver) resolve(ctx context.Context) error {
	var errs []error
	for name, o := range r.watches.takeStale() {
		if o == nil || !buffer.Ours(o) {
			delete(r.resolved, name)
			continue
		}
		resolved, err := r.read(ctx, o)
		if err != nil {
			r.watches.stale(name)
			errs = append(errs, err)
			continue
		}
		r.resolved[name] = resolved
	}
	if len(errs) > 0 && !r.all {
		return errors.Join(errs...) // not all are known yet, and no node goes
	}
	r.all = true
	r.Known.Are(slices.SortedFunc(maps.Values(r.resolved), func(a, b buffer.Resolved) int {
		return strings.Compare(a.Name().String(), b.Name().String())
	}))
	return errors.Join(errs...)
}

// read follows what the buffer names before it reads it, so that no change is missed.
func (r *Resolver) read(ctx context.Context, o *v1beta1.CapacityBuffer) (buffer.Resolved, error) {
	if err := r.watches.named(ctx, o); err != nil {
		return buffer.Resolved{}, err
	}
	return buffer.Resolve(ctx, r.Live, o, r.Now())
}

// report writes the status of buffers of which there is news.
func (r *Resolver) report(ctx context.Context) error {
	if r.Store == nil {
		return nil
	}
	r.mu.Lock()
	planned := r.planned
	r.mu.Unlock()
	var errs []error
	for _, s := range r.Known.States() {
		before := r.watches.seen(s.Name())
		if before == nil {
			continue
		}
		next := before.DeepCopy()
		p, known := planned[s.Name()]
		setStatus(next, &s, &p, known, r.Now())
		if equality.Semantic.DeepEqual(before.Status, next.Status) {
			continue
		}
		patch := client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})
		err := r.Store.Status().Patch(ctx, next, patch)
		if client.IgnoreNotFound(err) != nil && !apierrors.IsConflict(err) { // the watch will show what it has become
			errs = append(errs, fmt.Errorf("write status of CapacityBuffer %s: %w", s.Name(), err))
		}
	}
	return errors.Join(errs...)
}
