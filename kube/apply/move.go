package apply

import (
	"cmp"
	"context"
	"errors"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/internal/pause"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// keptFor is how long a node that was to go and stays is left out of plans, so
// that a view that lags behind does not tax it with taints again and again.
const keptFor = 10 * time.Second

// How long a move may take until its instances have started and everything it depends on was read:
// longer where many are under way, and within bounds.
const (
	timeoutForEach = 80 * time.Millisecond
	timeoutMin     = 10 * time.Minute
	timeoutMax     = time.Hour
)

// How often what could not be read or written is tried again.
const (
	retryFirst = time.Second
	retryMax   = 10 * time.Second
)

// timeout is how long a move may take that begins when so many are under way.
func timeout(moves int) time.Duration {
	return min(max(timeoutForEach*time.Duration(moves), timeoutMin), timeoutMax)
}

// readsFor bounds one check of everything that a move depends on.
const readsFor = 30 * time.Second

// ErrChanged says that what a move depended on no longer holds.
var ErrChanged = errors.New("the node is no longer as the plan saw it")

// ErrUnread says that the API server could not say in time whether what a move depends on still
// holds.
var ErrUnread = errors.New("the live state could not be read")

// ErrNoReplacement says that an instance which was to take the place of nodes did not come.
var ErrNoReplacement = errors.New("its replacement did not start")

// Listener is notified of moves. Its methods are called from several goroutines.
type Listener interface {
	// Replacing reports an instance that was launched in place of nodes, or could not be.
	Replacing(m plan.Move, l Launched)
	// Stuck reports, once for a move, that it cannot go on for lack of live state.
	Stuck(m plan.Move, err error)
	// Moved reports how a move ended.
	Moved(e Ended)
}

// Ended is a move that is over.
type Ended struct {
	plan.Move                              // with the nodes that it was about in the end
	Replaces  bool                         // instances were to be launched for it
	Together  int                          // nodes that the plan let go with it
	Gone      []bool                       // by removal: its claim was deleted
	Claims    []*karpv1.NodeClaim          // by removal: its claim as it was seen last; nil where it was not
	Policies  []karpv1.ConsolidationPolicy // by removal: what it goes by; empty where it goes for another reason
	Err       error                        // why not all are gone; nil where they are
}

// unit is nodes that go all together or not at all.
type unit struct {
	plan.Move
	snapshot *cluster.Snapshot // that it was planned from; nil once its instances are launched
	together int
	leaving  []*leaver
	claims   []string  // of the instances in their place
	ordered  bool      // these were created, or may have been
	since    time.Time // it was begun, by this process
	until    time.Time // it is given up then
	ledger   underWay
	deletes  bool // claims are being deleted: there may be no way back
	stuck    bool // that was reported
	alone    bool // its node is too old and goes though no instance came in its place
}

// leaver is a node that is to go.
type leaver struct {
	plan.Removal
	seen     *karpv1.NodeClaim // its claim when it was last examined
	admitted bool              // by the budgets of its pool
	gone     bool              // its claim is deleted
	moving   []string          // UIDs of the pods that need another place, when they were read last
	since    time.Time         // pods that came later are strangers; zero: Pods says
}

// Move carries the moves of a plan out, without holding up the caller. The nodes are closed to
// pods; when no pod can still be on its way to them, it is checked live whether all holds that the
// move depends on; then the instances in their place are launched, and when all have started it is
// checked once more. Only then the claims are deleted. What does not hold, or cannot be read in
// time, is undone, and a new plan is asked for. Nodes without instances in their place go each by
// itself.
func (a *Applier) Move(ctx context.Context, s *cluster.Snapshot, p plan.Plan, reported Listener) {
	for i := range p.Moves {
		for _, u := range units(s, &p.Moves[i]) {
			a.begin(ctx, u, reported)
		}
	}
}

// Wait returns when every move under way has ended.
func (a *Applier) Wait() { a.moves.Wait() }

// units takes a move apart into what must go together.
func units(s *cluster.Snapshot, m *plan.Move) []*unit {
	if len(m.Launches) > 0 {
		return []*unit{unitOf(s, *m, len(m.Removals))}
	}
	var out []*unit
	for _, r := range m.Removals {
		one := *m
		one.Removals = []plan.Removal{r}
		out = append(out, unitOf(s, one, len(m.Removals)))
	}
	return out
}

func unitOf(s *cluster.Snapshot, m plan.Move, together int) *unit {
	u := &unit{Move: m, snapshot: s, together: together}
	for _, r := range m.Removals {
		u.leaving = append(u.leaving, &leaver{Removal: r})
	}
	return u
}

// begin names the instances of a unit and starts it.
func (a *Applier) begin(ctx context.Context, u *unit, reported Listener) {
	names, err := a.nameInstances(u)
	if err == nil {
		u.takeTargets(names)
	}
	a.start(ctx, u, reported, func() error {
		if err != nil {
			return err
		}
		return a.carryOut(ctx, u, reported)
	})
}

// start takes the steps of a unit, unless one of its nodes is going already.
func (a *Applier) start(ctx context.Context, u *unit, reported Listener, steps func() error) {
	u.ledger.claims = u.claims
	for _, r := range u.leaving {
		u.ledger.nodes, u.ledger.pools = append(u.ledger.nodes, r.Node), append(u.ledger.pools, r.Pool)
	}
	if !a.Ledger.begins(&u.ledger) {
		return
	}
	u.since = a.Now()
	u.until = u.since.Add(timeout(a.Ledger.movesUnderWay()))
	a.moves.Go(func() { a.end(ctx, u, steps(), reported) })
}

// nameInstances chooses the claims of the instances that a unit is to launch, and lets them count
// for the limits of their pools from now on. It returns them by their names within the plan.
func (a *Applier) nameInstances(u *unit) (map[string]string, error) {
	names := map[string]string{}
	for _, l := range u.Launches {
		_, ordered, err := a.prepare(u.snapshot, l, a.NewID(), nil)
		if err != nil {
			return nil, err
		}
		u.ledger.orders = append(u.ledger.orders, ordered)
		u.claims = append(u.claims, ordered.Claim)
		names[l.Name] = ordered.Claim
	}
	return names, nil
}

// takeTargets notes where pods are to go. names are the claims of launches.
func (u *unit) takeTargets(names map[string]string) {
	for _, p := range u.Placements {
		switch p.On {
		case plan.OnLaunch:
			u.ledger.sit(p.Pod.UID, target{plan.OnInstance, names[p.Target]})
		default:
			u.ledger.sit(p.Pod.UID, target{p.On, p.Target})
		}
	}
}

// replaces reports whether instances are to come before the nodes go.
func (u *unit) replaces() bool { return len(u.Launches)+len(u.claims) > 0 }

// carryOut takes every step of a move.
func (a *Applier) carryOut(ctx context.Context, u *unit, reported Listener) error {
	if err := a.closeNodes(ctx, u); err != nil {
		return err
	}
	if err := pause.For(ctx, translate.StabilizeFor); err != nil {
		return err
	}
	if err := a.confirm(ctx, u, reported); err != nil {
		return err
	}
	if len(u.Launches) > 0 {
		if err := a.replace(ctx, u, reported); err != nil {
			return err
		}
	}
	return a.finish(ctx, u, reported)
}

// finish waits for the instances that were launched and lets the nodes go.
func (a *Applier) finish(ctx context.Context, u *unit, reported Listener) error {
	if u.replaces() {
		if err := a.await(ctx, u); err != nil && !a.goesAlone(u, err) {
			return err
		}
		if err := a.confirm(ctx, u, reported); err != nil {
			return err
		}
	}
	return a.letGo(ctx, u, reported)
}

// goesAlone reports whether a node whose instance did not come goes all the same: its time is over,
// and the instance was waited for long enough. What cannot be launched at all need not be waited
// for: the next plan knows that.
func (a *Applier) goesAlone(u *unit, err error) bool {
	now := a.Now()
	tooOld := func(r *leaver) bool {
		return r.Reason == plan.Expired && r.seen != nil && translate.IsExpired(r.seen, now)
	}
	if !errors.Is(err, ErrNoReplacement) || now.Before(u.since.Add(timeoutMin)) || !slices.ContainsFunc(u.leaving, tooOld) {
		return false
	}
	u.alone, u.until = true, now.Add(timeoutMin)
	u.Removals = slices.Clone(u.Removals) // the plan's own
	for i := range u.Removals {
		u.Removals[i].Note += "; its replacement did not start"
	}
	return true
}

// letGo deletes the claims, each as it was seen last. One that changed since, as it does when its
// status is written, is examined once more.
func (a *Applier) letGo(ctx context.Context, u *unit, reported Listener) error {
	u.deletes = true
	for again := retryFirst / 10; ; again = min(2*again, retryMax) {
		failed := make([]error, len(u.leaving))
		each(len(u.leaving), func(i int) { failed[i] = a.deleteClaim(ctx, u.leaving[i]) })
		err := errors.Join(failed...)
		if err == nil || ctx.Err() != nil {
			return err
		}
		if !a.Now().Add(again).Before(u.until) {
			return err
		}
		if stopped := pause.For(ctx, again); stopped != nil {
			return stopped
		}
		if err := a.confirm(ctx, u, reported); err != nil {
			return err
		}
	}
}

// end reports how a move ended, and undoes what was not carried out.
func (a *Applier) end(ctx context.Context, u *unit, err error, reported Listener) {
	if err != nil {
		a.undo(ctx, u)
	} else {
		a.markStage(ctx, u.claims, stageDone)
	}
	for _, r := range u.leaving {
		if r.admitted {
			a.budgets.of(r.Pool).leave(r.Claim)
		}
	}
	a.Ledger.ends(&u.ledger)
	reported.Moved(a.ended(u, err))
	if err == nil || ctx.Err() != nil {
		return
	}
	a.Again()
	if pause.For(ctx, keptFor) == nil {
		a.Again() // they may be planned for once more
	}
}

func (a *Applier) ended(u *unit, err error) Ended {
	out := Ended{Move: u.Move, Replaces: u.replaces(), Together: u.together, Err: err}
	for _, r := range u.leaving {
		out.Gone, out.Claims = append(out.Gone, r.gone), append(out.Claims, r.seen)
		out.Policies = append(out.Policies, a.policyOf(r.Removal))
	}
	return out
}

// policyOf is the consolidationPolicy that a node goes by.
func (a *Applier) policyOf(r plan.Removal) karpv1.ConsolidationPolicy {
	if a.Pools == nil || r.Reason != plan.Empty && r.Reason != plan.Underutilized {
		return ""
	}
	pool, known := a.Pools.Pool(r.Pool)
	if !known {
		return ""
	}
	return cmp.Or(pool.Disruption.ConsolidationPolicy, karpv1.ConsolidateWhenEmptyOrUnderutilized)
}

// anyGone reports whether there is no way back.
func (u *unit) anyGone() bool {
	return slices.ContainsFunc(u.leaving, func(r *leaver) bool { return r.gone })
}

// undo reverts what a move did, as long as this process may: when ctx has
// ended, the next one does, or carries the move on.
func (a *Applier) undo(ctx context.Context, u *unit) {
	if ctx.Err() != nil && u.ordered {
		return
	}
	each(len(u.leaving), func(i int) {
		if r := u.leaving[i]; !r.gone {
			a.reopen(ctx, r.Node, r.Claim)
			a.Ledger.Stays(r.Node, a.Now().Add(keptFor))
		}
	})
	if !u.ordered {
		return
	}
	if u.anyGone() {
		a.markStage(ctx, u.claims, stageKept) // pods of nodes that went need the instances
		return
	}
	each(len(u.claims), func(i int) { a.giveBack(ctx, u.claims[i]) })
}
