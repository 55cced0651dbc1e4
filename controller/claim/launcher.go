package claim

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"
	"sync"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

const (
	gatherIdle = 35 * time.Millisecond // no further claim for so long closes a batch
	gatherMax  = time.Second           // and at the latest so long after the first
	settleFor  = 15 * time.Second      // until then a machine bought may be invisible to List
	retryFirst = time.Second
	retryMax   = time.Minute
)

// Launcher buys machines for claims, equal ones together. Every purchase is
// written on its claims before it is made, so that a crash at any moment
// loses nothing and buys nothing twice: the batch's machines are found by
// their tag and handed to its claims in the order of their names before
// anything is tried anew.
//
// Prepare it before use. One batch never waits for another. The Launcher decides nothing about what
// to buy.
type Launcher struct {
	Store    client.Client
	Live     client.Reader // reads past every cache
	Requests requests
	Machines cloud.Machines
	Outcome  outcomes
	Now      func() time.Time
	CallFor  time.Duration // longest time one purchase may take

	mu      sync.Mutex
	waiting map[string]struct{} // names not yet in a batch
	busy    map[string]struct{} // names in a batch under way
	turns   map[string]*turn    // by batch under way

	wake chan struct{}
}

// requests forms the request that would buy a claim's machine now.
type requests interface {
	// For returns the request without token, batch and count. It returns
	// *cloud.NoCapacityError when nothing suitable is offered.
	For(ctx context.Context, c *karpv1.NodeClaim) (cloud.LaunchRequest, error)
}

// outcomes writes what became of a purchase on a claim.
type outcomes interface {
	Bought(ctx context.Context, c *karpv1.NodeClaim, m cloud.Machine) error
	NotToBeHad(ctx context.Context, c *karpv1.NodeClaim, why error) error // the claim goes; a new plan follows
	Failed(ctx context.Context, c *karpv1.NodeClaim, why error) error     // said in its condition; tried again
}

// Prepare makes the launcher ready for Add and Run, and returns it.
func (l *Launcher) Prepare() *Launcher {
	l.waiting, l.busy, l.turns = map[string]struct{}{}, map[string]struct{}{}, map[string]*turn{}
	l.wake = make(chan struct{}, 1)
	return l
}

// Add asks for a machine for the named claim. A claim that is being bought
// for is not added twice.
func (l *Launcher) Add(name string) {
	l.mu.Lock()
	if _, busy := l.busy[name]; !busy {
		l.waiting[name] = struct{}{}
	}
	l.mu.Unlock()
	select {
	case l.wake <- struct{}{}:
	default:
	}
}

// Run buys until ctx ends, then waits for what is under way to stop.
func (l *Launcher) Run(ctx context.Context) error {
	var under sync.WaitGroup
	defer under.Wait()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-l.wake:
		}
		if !l.gather(ctx) {
			return nil
		}
		for _, b := range l.batches(ctx, l.take()) {
			under.Go(func() {
				defer l.release(b.names())
				defer l.enter(b)()
				l.buy(ctx, b)
			})
		}
	}
}

// gather waits until no claim has come for gatherIdle.
func (l *Launcher) gather(ctx context.Context) bool {
	latest := time.NewTimer(gatherMax)
	defer latest.Stop()
	for {
		idle := time.NewTimer(gatherIdle)
		select {
		case <-ctx.Done():
			idle.Stop()
			return false
		case <-latest.C:
			idle.Stop()
			return true
		case <-idle.C:
			return true
		case <-l.wake:
			idle.Stop()
		}
	}
}

func (l *Launcher) take() []string {
	l.mu.Lock()
	defer l.mu.Unlock()
	names := make([]string, 0, len(l.waiting))
	for name := range l.waiting {
		names = append(names, name)
		l.busy[name] = struct{}{}
	}
	clear(l.waiting)
	slices.Sort(names)
	return names
}

func (l *Launcher) release(names []string) {
	l.mu.Lock()
	defer l.mu.Unlock()
	for _, name := range names {
		delete(l.busy, name)
	}
}

// batch is claims that are bought for with one request.
type batch struct {
	attempt  attempt
	claims   []*karpv1.NodeClaim // those still without a machine, sorted by name
	request  cloud.LaunchRequest
	repeated bool // the attempt may have been made before: look for its machines first
	turn     *turn
}

// turn lets one hand over machines of a batch at a time. After a restart the
// claims of one batch may come back in several groups, and a machine that two
// of them see free must not be given twice.
type turn struct {
	slot  chan struct{}
	users int
}

// enter gives a batch its turn, shared by all groups of that name, until the
// function returned is called.
func (l *Launcher) enter(b *batch) (leave func()) {
	l.mu.Lock()
	defer l.mu.Unlock()
	name := b.attempt.batch
	if l.turns[name] == nil {
		l.turns[name] = &turn{slot: make(chan struct{}, 1)}
	}
	b.turn = l.turns[name]
	b.turn.users++
	return func() {
		l.mu.Lock()
		defer l.mu.Unlock()
		if b.turn.users--; b.turn.users == 0 {
			delete(l.turns, name)
		}
	}
}

func (b *batch) names() []string {
	names := make([]string, len(b.claims))
	for i, c := range b.claims {
		names[i] = c.Name
	}
	return names
}

// batches reads the named claims and groups them: those that already carry
// an attempt by it, the others by equal request. Claims that need nothing
// are released.
func (l *Launcher) batches(ctx context.Context, names []string) []*batch {
	groups := map[string]*batch{}
	for _, name := range names {
		c := &karpv1.NodeClaim{}
		if err := l.Store.Get(ctx, client.ObjectKey{Name: name}, c); err != nil || !needsMachine(c) {
			l.release([]string{name})
			continue
		}
		key, b, err := l.groupOf(ctx, c)
		if err != nil {
			l.giveUp(ctx, []*karpv1.NodeClaim{c}, err)
			l.release([]string{name})
			continue
		}
		if known, ok := groups[key]; ok {
			b = known
		}
		b.claims = append(b.claims, c)
		groups[key] = b
	}
	out := make([]*batch, 0, len(groups))
	for _, b := range groups {
		if b.attempt.batch == "" {
			b.attempt = attempt{newBatch(b.claims), 1}
		}
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b *batch) int { return strings.Compare(a.attempt.batch, b.attempt.batch) })
	return out
}

func (l *Launcher) groupOf(ctx context.Context, c *karpv1.NodeClaim) (string, *batch, error) {
	r, err := l.Requests.For(ctx, c)
	if a, tried := attemptOf(c); tried {
		// The outcome of the earlier attempt is unknown: it is looked for even
		// where nothing could be bought now.
		return a.String(), &batch{attempt: a, request: r, repeated: true}, nil
	}
	if err != nil {
		return "", nil, err
	}
	key, err := sameRequest(r)
	return "new/" + key, &batch{request: r}, err
}

func needsMachine(c *karpv1.NodeClaim) bool {
	return c.DeletionTimestamp == nil && c.Status.ProviderID == ""
}

// buy carries a batch through until every claim has a machine, is given up,
// or ctx ends.
func (l *Launcher) buy(ctx context.Context, b *batch) {
	pause := retryFirst
	for first := true; ; first = false {
		if !first && !sleep(ctx, pause) {
			return
		}
		done, progress := l.try(ctx, b)
		if done || ctx.Err() != nil {
			return
		}
		if pause = min(pause*2, retryMax); progress {
			pause = retryFirst
		}
	}
}

// try makes one attempt. It reports whether the batch is done and whether
// anything moved, so that the next try need not wait long.
func (l *Launcher) try(ctx context.Context, b *batch) (done, progress bool) {
	if b.repeated {
		if err := l.handOver(ctx, b, nil); err != nil || len(b.claims) == 0 {
			return err == nil, false
		}
	}
	if len(b.request.Options) == 0 && !l.renew(ctx, b) {
		return len(b.claims) == 0, false
	}
	if all := l.mark(ctx, b); !all || len(b.claims) == 0 {
		return len(b.claims) == 0, false
	}
	count := len(b.claims)
	if b.repeated {
		members, err := l.inBatch(ctx, b.attempt.batch)
		if err != nil {
			return false, false
		}
		count = takingPart(members, b.attempt)
	}
	b.repeated = true
	bought, err := l.call(ctx, b, count)
	return l.conclude(ctx, b, bought, err)
}

func (l *Launcher) call(ctx context.Context, b *batch, count int) ([]cloud.Machine, error) {
	r := b.request
	r.Token, r.Batch, r.Count = b.attempt.token(), b.attempt.batch, count
	ctx, cancel := context.WithTimeout(ctx, l.CallFor)
	defer cancel()
	return l.Machines.Launch(ctx, r)
}

// conclude acts on the answer to a purchase.
func (l *Launcher) conclude(ctx context.Context, b *batch, bought []cloud.Machine, err error) (done, progress bool) {
	if handErr := l.handOver(ctx, b, bought); handErr != nil {
		return false, false
	}
	if len(b.claims) == 0 {
		return true, true
	}
	var short *cloud.NoCapacityError
	var mismatch *cloud.TokenMismatchError
	var refused *cloud.RefusedError
	switch {
	case errors.As(err, &short):
		return !l.another(ctx, b), true
	case errors.As(err, &mismatch):
		if !l.settle(ctx, b) {
			return len(b.claims) == 0, true
		}
		return !l.another(ctx, b), true
	case errors.As(err, &refused):
		l.fail(ctx, b, err)
		b.attempt, b.request = b.attempt.next(), cloud.LaunchRequest{}
		return false, false
	case err == nil:
		return !l.another(ctx, b), true // fewer than asked, without a word
	}
	l.fail(ctx, b, err) // outcome unknown or throttled: the same again
	return false, false
}

// settle waits until machines of an attempt that did arrive must be visible,
// handing over what appears. It reports whether claims are left over.
func (l *Launcher) settle(ctx context.Context, b *batch) bool {
	for until := l.Now().Add(settleFor); l.Now().Before(until); {
		if !sleep(ctx, 2*time.Second) {
			return false
		}
		if err := l.handOver(ctx, b, nil); err == nil && len(b.claims) == 0 {
			return false
		}
	}
	return true
}

// another turns the batch to what can be had now; it gives the claims up and
// reports false when there is nothing.
func (l *Launcher) another(ctx context.Context, b *batch) bool {
	b.attempt, b.repeated = b.attempt.next(), false
	return l.renew(ctx, b)
}

// renew forms the request anew from the first claim, since all are alike.
func (l *Launcher) renew(ctx context.Context, b *batch) bool {
	r, err := l.Requests.For(ctx, b.claims[0])
	if err != nil {
		if !l.giveUp(ctx, b.claims, err) {
			return false
		}
		b.claims = nil
		return false
	}
	b.request = r
	return true
}

// giveUp drops claims for which nothing can be bought, and notes any other
// obstacle on them. It reports whether the claims are settled.
func (l *Launcher) giveUp(ctx context.Context, claims []*karpv1.NodeClaim, why error) bool {
	settled := hopeless(why)
	for _, c := range claims {
		say := l.Outcome.Failed
		if settled {
			say = l.Outcome.NotToBeHad
		}
		if err := say(ctx, c, why); client.IgnoreNotFound(err) != nil {
			settled = false
		}
	}
	return settled
}

func (l *Launcher) fail(ctx context.Context, b *batch, why error) {
	for _, c := range b.claims {
		_ = l.Outcome.Failed(ctx, c, why) // said again with the next failure
	}
}

// mark writes the attempt on every claim of the batch before it is made;
// claims that went meanwhile leave the batch. It reports whether all that are
// left carry the attempt; nothing may be bought before.
func (l *Launcher) mark(ctx context.Context, b *batch) (all bool) {
	errs := make([]error, len(b.claims))
	var writes sync.WaitGroup
	for i, c := range b.claims {
		writes.Go(func() { errs[i] = l.markOne(ctx, c, b.attempt) })
	}
	writes.Wait()
	all = true
	var left []*karpv1.NodeClaim
	for i, err := range errs {
		switch {
		case errors.Is(err, errGone):
			continue
		case err != nil:
			all = false
		}
		left = append(left, b.claims[i])
	}
	b.claims = left
	return all
}

// errGone says that a claim needs no machine any more.
var errGone = errors.New("the claim is gone or has its machine")

// markTries is how often a claim that changed meanwhile is read anew at once.
const markTries = 5

func (l *Launcher) markOne(ctx context.Context, c *karpv1.NodeClaim, a attempt) error {
	var err error
	for range markTries {
		if c.Annotations[api.MarkLaunchAttempt] == a.String() {
			return nil
		}
		marked := c.DeepCopy()
		if marked.Annotations == nil {
			marked.Annotations = map[string]string{}
		}
		marked.Annotations[api.MarkLaunchAttempt] = a.String()
		err = l.Store.Patch(ctx, marked, client.MergeFromWithOptions(c, client.MergeFromWithOptimisticLock{}))
		switch {
		case err == nil:
			*c = *marked
			return nil
		case apierrors.IsNotFound(err):
			return errGone
		case !apierrors.IsConflict(err):
			return fmt.Errorf("write launch attempt %s on claim %s: %w", a, c.Name, err)
		}
		if err := l.reread(ctx, c); err != nil {
			return err
		}
	}
	return fmt.Errorf("write launch attempt %s on claim %s: %w", a, c.Name, err)
}

// reread replaces a claim by what the API server has now.
func (l *Launcher) reread(ctx context.Context, c *karpv1.NodeClaim) error {
	live := &karpv1.NodeClaim{}
	err := l.Live.Get(ctx, client.ObjectKeyFromObject(c), live)
	switch {
	case apierrors.IsNotFound(err), err == nil && (live.UID != c.UID || !needsMachine(live)):
		return errGone
	case err != nil:
		return fmt.Errorf("read claim %s anew: %w", c.Name, err)
	}
	*c = *live
	return nil
}

func (l *Launcher) inBatch(ctx context.Context, name string) ([]karpv1.NodeClaim, error) {
	var list karpv1.NodeClaimList
	if err := l.Live.List(ctx, &list); err != nil {
		return nil, fmt.Errorf("list claims of batch %s: %w", name, err)
	}
	return slices.DeleteFunc(list.Items, func(c karpv1.NodeClaim) bool {
		a, ok := attemptOf(&c)
		return !ok || a.batch != name
	}), nil
}

// handOver gives machines of the batch that no claim has yet to its claims,
// in name order. Where the machines are not known they are looked up by tag.
// Claims that went meanwhile, or have their machine, leave the batch.
func (l *Launcher) handOver(ctx context.Context, b *batch, machines []cloud.Machine) error {
	select {
	case b.turn.slot <- struct{}{}:
		defer func() { <-b.turn.slot }()
	case <-ctx.Done():
		return ctx.Err()
	}
	if machines == nil {
		found, err := l.Machines.List(ctx, cloud.Filter{Batch: b.attempt.batch})
		if err != nil {
			return fmt.Errorf("list machines of batch %s: %w", b.attempt.batch, err)
		}
		machines = found
	}
	members, err := l.inBatch(ctx, b.attempt.batch)
	if err != nil {
		return err
	}
	b.claims = stillWaiting(b.claims, members)
	return l.record(ctx, b, unassigned(machines, members))
}

// record writes one machine on each claim in parallel; claims that got none
// stay in the batch.
func (l *Launcher) record(ctx context.Context, b *batch, machines []cloud.Machine) error {
	n := min(len(machines), len(b.claims))
	errs := make([]error, n)
	var writes sync.WaitGroup
	for i := range n {
		writes.Go(func() { errs[i] = l.Outcome.Bought(ctx, b.claims[i], machines[i]) })
	}
	writes.Wait()
	left := slices.Clone(b.claims[n:])
	for i, err := range errs {
		if client.IgnoreNotFound(err) != nil {
			left = append(left, b.claims[i])
		}
	}
	slices.SortFunc(left, func(a, b *karpv1.NodeClaim) int { return strings.Compare(a.Name, b.Name) })
	b.claims = left
	return client.IgnoreNotFound(errors.Join(errs...))
}

// sleep waits for d; it reports false when ctx ended first.
func sleep(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	select {
	case <-ctx.Done():
		return false
	case <-t.C:
		return true
	}
}
