// Package interruption acts on interruption messages: spot interruptions, maintenance, instances that
// stop or terminate.
//
// It promises to delete a message only after its consequences are written, so that a crash in between
// loses nothing; that a message which comes twice, late or out of order does no harm; and that it
// reports and retries a queue which cannot be read. Other loops, which see the deleted NodeClaims,
// drain nodes and replace their instances.
package interruption

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"time"

	"golang.org/x/sync/errgroup"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

const (
	// timeout is how often an interruption message is left that is not understood, or whose
	// instance may still be on its way to its claim.
	timeout    = 3
	writesMax  = 100 // at once
	retryFirst = time.Second
	retryMax   = time.Minute
	// oursFor is how long an instance is known to have been ours: queues for several
	// clusters keep for five minutes what no reader deletes.
	oursFor = 10 * time.Minute
)

type publisher interface{ Publish(observe.Event) }

// Reader is the loop.
type Reader struct {
	*Actor
	InterruptionMessages cloud.InterruptionMessages

	retry time.Duration
	heard map[string]time.Time    // interruption messages of a shared queue that were counted, by ID, and when
	ours  map[string]time.Time    // instances that claims have, or had lately, and when that was seen last
	gone  map[types.UID]time.Time // claims deleted here that the watches may still show, and when their instances end; zero: it is not known
}

// Round waits for interruption messages and acts on them once.
func (r *Reader) Round(ctx context.Context) (time.Duration, error) {
	interruptionMessages, err := r.InterruptionMessages.Next(ctx)
	if ctx.Err() != nil {
		return 0, nil //nolint:nilerr // the program ends; what was handed out comes again
	}
	if err != nil {
		r.reportUnread(ctx, err)
		return r.later(), err
	}
	r.Metrics.QueueReadable.WithLabelValues().Set(1)
	r.retry = 0
	done, err := r.act(ctx, interruptionMessages)
	if len(done) > 0 {
		err = errors.Join(err, r.finish(ctx, done))
	}
	if err != nil {
		return r.later(), err // what is not done comes again
	}
	return 0, nil
}

// later is how long to wait after something failed: longer each time.
func (r *Reader) later() time.Duration {
	r.retry = min(max(2*r.retry, retryFirst), retryMax)
	return r.retry
}

func (r *Reader) finish(ctx context.Context, done []cloud.InterruptionMessage) error {
	if err := r.InterruptionMessages.Done(ctx, done...); err != nil {
		if refused, ok := errors.AsType[*cloud.RefusedError](err); ok {
			r.reportPools(ctx, refused.Reason, "messages of the interruption queue that were acted on stay in it: "+err.Error())
		}
		return fmt.Errorf("acknowledge interruption messages: %w", err)
	}
	r.Metrics.MessagesDone.Add(float64(len(done)))
	return nil
}

// act does what follows from interruption messages, and returns those that are done with.
func (r *Reader) act(ctx context.Context, interruptionMessages []cloud.InterruptionMessage) ([]cloud.InterruptionMessage, error) {
	var list karpv1.NodeClaimList
	if err := r.Store.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil { // only read
		return nil, fmt.Errorf("list claims to act on interruption messages: %w", err)
	}
	claims := known(list.Items)
	r.forget(claims)
	r.own(claims)
	if err := r.recallAdvice(ctx, claims, list.Items); err != nil {
		return nil, err
	}
	work := map[types.UID][]int{} // by claim, so that no two act on one at once
	var done []cloud.InterruptionMessage
	for i, n := range interruptionMessages {
		r.count(n)
		claim := claims.by[n.InstanceID]
		switch {
		case n.Kind == cloud.NotUnderstood:
			if r.giveUp(n) {
				done = append(done, n)
			}
		case n.Kind == cloud.NoOp:
			if r.mayDelete(n) {
				done = append(done, n)
			}
		case claim != nil:
			work[claim.UID] = append(work[claim.UID], i)
		case r.mayDelete(n) && (claims.coming == 0 || n.Count >= timeout):
			done = append(done, n) // it is about no instance of a claim
		}
	}
	return r.each(ctx, interruptionMessages, claims, work, done)
}

// each acts on the interruption messages of every claim, in the order they came.
func (r *Reader) each(ctx context.Context, interruptionMessages []cloud.InterruptionMessage, claims owners, work map[types.UID][]int, done []cloud.InterruptionMessage) ([]cloud.InterruptionMessage, error) {
	acted, errs := make([]bool, len(interruptionMessages)), make([]error, len(interruptionMessages))
	ends := make(map[types.UID]*fate, len(work))
	var writes errgroup.Group
	writes.SetLimit(writesMax)
	for uid, which := range work {
		f := &fate{claim: claims.of(interruptionMessages[which[0]].InstanceID)}
		f.endsAt, f.leaves = r.gone[uid]
		ends[uid] = f
		writes.Go(func() error {
			for _, i := range which {
				errs[i] = r.follow(ctx, interruptionMessages[i], claims, f)
				acted[i] = errs[i] == nil
			}
			return nil
		})
	}
	writes.Wait() //nolint:errcheck // all of them are joined below
	for i, n := range interruptionMessages {
		if acted[i] {
			done = append(done, n)
		}
	}
	for uid, f := range ends {
		if f.leaves {
			r.gone[uid] = f.endsAt
		}
	}
	return done, errors.Join(errs...)
}

// owners are the claims by their instances.
type owners struct {
	by     map[string]*karpv1.NodeClaim // the cache's own, which are only read
	ofPool map[cluster.PoolID]int       // how many there are
	uids   map[types.UID]bool
	names  map[string]bool
	coming int // claims whose instance is not written down yet
}

// of is the claim of an instance, to be changed; nil: there is none.
func (o owners) of(instance string) *karpv1.NodeClaim { return o.by[instance].DeepCopy() }

func known(claims []karpv1.NodeClaim) owners {
	o := owners{by: map[string]*karpv1.NodeClaim{}, uids: map[types.UID]bool{}, names: map[string]bool{}, ofPool: map[cluster.PoolID]int{}}
	for i := range claims {
		c := &claims[i]
		o.uids[c.UID], o.names[c.Name] = true, true
		o.ofPool[translate.PoolOf(c)]++
		switch {
		case c.Status.ProviderID != "":
			o.by[translate.InstanceID(c.Status.ProviderID)] = c
		case c.DeletionTimestamp == nil:
			o.coming++
		}
	}
	return o
}

// forget drops the marks of claims that are no longer shown.
func (r *Reader) forget(claims owners) {
	if r.gone == nil {
		r.gone = map[types.UID]time.Time{}
	}
	for uid := range r.gone {
		if !claims.uids[uid] {
			delete(r.gone, uid)
		}
	}
}

// own notes which instances are ours, and forgets what was long ago.
func (r *Reader) own(claims owners) {
	now := r.Now()
	if r.ours == nil {
		r.ours = map[string]time.Time{}
	}
	for id := range claims.by {
		r.ours[id] = now
	}
	old := func(_ string, seen time.Time) bool { return now.Sub(seen) > oursFor }
	maps.DeleteFunc(r.ours, old)
	maps.DeleteFunc(r.heard, old)
}

// mayDelete reports whether an interruption message is for no other cluster: the queue is
// not shared, or the instance was ours.
func (r *Reader) mayDelete(n cloud.InterruptionMessage) bool {
	return !n.Shared || !r.ours[n.InstanceID].IsZero()
}

// count measures an interruption message that was handed out for the first time. Other
// readers of a shared queue may have had it before, and they count what is about their
// instances.
func (r *Reader) count(n cloud.InterruptionMessage) {
	again := n.Count > 1
	if n.Shared && n.InstanceID != "" {
		again = r.ours[n.InstanceID].IsZero() || r.hasHeard(n.ID)
	}
	if again {
		return
	}
	r.Metrics.MessagesReceived.WithLabelValues(string(n.Kind)).Inc()
	r.Metrics.MessageSeconds.Observe(max(r.Now().Sub(n.At), 0).Seconds())
}

// hasHeard reports whether an interruption message was handed out here before, and
// remembers it as long as it may come again.
func (r *Reader) hasHeard(id string) bool {
	if r.heard == nil {
		r.heard = map[string]time.Time{}
	}
	_, before := r.heard[id]
	r.heard[id] = r.Now()
	return before
}

// giveUp reports whether a message that is not understood is to be deleted. In a queue
// of its own a cluster retries it a few times; in a shared queue it may be another
// cluster's, and is left to its visibility timeout.
func (r *Reader) giveUp(n cloud.InterruptionMessage) bool {
	if n.Shared {
		if !r.hasHeard(n.ID) {
			r.Log.Warn("a message of the shared interruption queue is not understood, and left there", "message", n.ID, "received", n.Count, "problem", n.Problem)
		}
		return false
	}
	if n.Count < timeout {
		return false
	}
	r.Log.Warn("a message of the interruption queue is not understood, and deleted", "message", n.ID, "received", n.Count, "problem", n.Problem)
	return true
}

// reportUnread reports to operators that no interruption message comes through.
func (r *Reader) reportUnread(ctx context.Context, err error) {
	r.Metrics.QueueReadable.WithLabelValues().Set(0)
	reason := "InterruptionQueueUnreadable"
	if refused, ok := errors.AsType[*cloud.RefusedError](err); ok {
		reason = refused.Reason
	}
	r.reportPools(ctx, reason, "interruption messages for its nodes are not read in time: "+err.Error())
}
