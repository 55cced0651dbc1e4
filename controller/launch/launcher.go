// Package launch launches instances for NodeClaims, and retries until each has its instance or is
// given up. It queues the claims, and sends equal ones to the cloud in one request.
//
// It promises that an instance is never launched twice for one NodeClaim, and that no claim is given
// up while an instance may still be launched for it. It decides neither which NodeClaims there should
// be nor which offerings a request names: core/offering decides the latter.
package launch

import (
	"context"
	"log/slog"
	"sync"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apiclock"
)

// Launcher launches instances for claims, equal ones together. Every launch is
// written on its claims before it is made, so that a crash at any moment
// loses nothing and launches nothing twice: the batch's instances are found by
// their tag and handed to its claims in the order of their names before
// anything is tried again.
//
// Open it before use. One batch never waits for another, nor for claims that
// nothing can be launched for. A claim is given up only when it is certain that
// no instance is on its way to it. The Launcher decides nothing about what to
// launch.
type Launcher struct {
	Store     client.Client
	Live      client.Reader // reads past every cache
	Requests  requests
	Instances cloud.Instances
	Outcome   outcomes
	Log       *slog.Logger
	Now       func() time.Time
	Doubt     apiclock.Doubt // of that time: no claim is too late meanwhile
	CallFor   time.Duration  // longest time one launch may take

	// Gathered receives how long the claims of a round of launches were waited for; it may
	// be nil.
	Gathered func(time.Duration)
	// Called receives a call to the cloud that has ended: for the instances of which claims, since
	// when, how many came, and why not all. It may be nil.
	Called func(claims []string, from time.Time, came int, err error)

	queue  *queue
	turns  *turns
	roster *roster
}

// Open makes the launcher ready for Add and Run, and returns it.
func (l *Launcher) Open() *Launcher {
	l.queue, l.turns, l.roster = newQueue(), newTurns(), newRoster(l.Live)
	return l
}

// Add asks for an instance for the named claim. A claim that is being launched
// for is not added twice.
func (l *Launcher) Add(name string) { l.queue.add(name) }

// Announce says that claims of these names are about to be added: they are launched for together, as soon as the last
// of them is here, or, where they are awaited since pods wait for some of them, the first 25 at once and the others
// together. What is announced and does not come holds the others up for a second at most.
func (l *Launcher) Announce(awaited bool, names ...string) { l.queue.announce(awaited, names...) }

// Dismiss says that an announced claim does not come.
func (l *Launcher) Dismiss(name string) { l.queue.dismiss(name) }

// Nudge says that a claim was withdrawn. Where a launch for it rests before
// it is tried again, and for no claim that is still needed, it rests no longer.
func (l *Launcher) Nudge(name string) { l.queue.nudge(name) }

// Run launches until ctx ends, then waits for what is under way to stop.
func (l *Launcher) Run(ctx context.Context) error {
	var under sync.WaitGroup
	defer under.Wait()
	for l.queue.await(ctx) {
		began := l.Now()
		if !l.queue.gather(ctx) {
			break
		}
		if l.Gathered != nil {
			l.Gathered(l.Now().Sub(began))
		}
		form := batcher{l.Store, l.Requests, l.Now}
		claims, needless := form.read(ctx, l.queue.take())
		l.queue.release(needless...)
		batches, obstacles := form.batches(ctx, claims)
		for _, o := range obstacles {
			under.Go(func() { l.decline(ctx, o) })
		}
		for _, b := range batches {
			under.Go(func() {
				turn, leave := l.turns.enter(b.attempt.batch)
				defer leave()
				l.batchLaunch(b, turn).run(ctx)
			})
		}
	}
	return nil
}

// decline writes on a claim why no request can be formed for it, or gives it
// up. One that a launch was tried for, which the cache may not show yet,
// comes back by the attempt it carries.
func (l *Launcher) decline(ctx context.Context, o obstacle) {
	defer l.queue.release(o.claim.Name)
	if !hopeless(o.why) || l.isUntried(ctx, o.claim) {
		giveUp(ctx, l.Outcome, l.Log, []*karpv1.NodeClaim{o.claim}, o.why)
	}
}

// isUntried asks the API server itself; where it does not answer, none knows.
func (l *Launcher) isUntried(ctx context.Context, c *karpv1.NodeClaim) bool {
	live := &karpv1.NodeClaim{}
	if err := l.Live.Get(ctx, client.ObjectKeyFromObject(c), live); err != nil {
		return false
	}
	_, tried := attemptOf(live)
	return !tried && live.UID == c.UID && needsInstance(live)
}

func (l *Launcher) batchLaunch(b *batch, t turn) *batchLaunch {
	nudged := make(chan struct{}, 1)
	l.queue.listen(nudged, b.names()...)
	return &batchLaunch{
		batch: b, requests: l.Requests, instances: l.Instances, outcome: l.Outcome, log: l.Log, now: l.Now, ageless: l.Doubt, callFor: l.CallFor,
		marker:   marker{l.Store, l.Live},
		nudged:   nudged,
		release:  l.queue.release,
		called:   l.Called,
		handover: handover{roster: l.roster, instances: l.Instances, outcome: l.Outcome, turn: t},
	}
}
