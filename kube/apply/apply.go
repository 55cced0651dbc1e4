package apply

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"sync"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// writersMax bounds how many objects are created at once.
const writersMax = 32

// indexNodeName is the field index over pods that the live reader must have.
const indexNodeName = "spec.nodeName"

// Applier carries out plans.
type Applier struct {
	Store  client.Client
	Live   client.Reader // reads past every cache
	Ledger *Ledger
	Pools  pools
	Now    func() time.Time
	NewID  func() string // five characters for the name of a claim, not used before

	removals sync.WaitGroup
}

// pools finds a pool as it was last seen.
type pools interface {
	Pool(id cluster.PoolID) (translate.PoolObject, bool)
}

// Launched is one launch of a plan that became a claim, or the error that
// kept it from that.
type Launched struct {
	Launch plan.Launch
	Claim  *karpv1.NodeClaim
	Err    error
}

// Launch creates a claim for every launch of the plan, in parallel, and
// records it in the ledger before, as the snapshot s tells what it may become.
// What cannot be created is taken back out
// of the ledger; a new plan will see to its pods.
func (a *Applier) Launch(ctx context.Context, s *cluster.Snapshot, p plan.Plan) []Launched {
	out := make([]Launched, len(p.Launches))
	slots := make(chan struct{}, writersMax)
	var writes sync.WaitGroup
	for i, l := range p.Launches {
		slots <- struct{}{}
		writes.Go(func() {
			defer func() { <-slots }()
			claim, err := a.launch(ctx, l, kindsOf(s, l.Pool))
			out[i] = Launched{l, claim, err}
		})
	}
	writes.Wait()
	return out
}

func kindsOf(s *cluster.Snapshot, id cluster.PoolID) []cluster.Kind {
	if pool, ok := s.Pool(id); ok && pool.Catalogue != nil {
		return pool.Catalogue.Kinds
	}
	return nil
}

func (a *Applier) launch(ctx context.Context, l plan.Launch, kinds []cluster.Kind) (*karpv1.NodeClaim, error) {
	pool, known := a.Pools.Pool(l.Pool)
	if !known {
		return nil, fmt.Errorf("create claim: %s is gone", l.Pool)
	}
	claim, err := translate.Claim(pool, l, a.NewID())
	if err != nil {
		return nil, err
	}
	ordered := translate.Machine(claim, kinds)
	ordered.CreatedAt, ordered.BoughtFor = a.Now().UTC(), l.Pods
	a.Ledger.Ordered(ordered)
	if err := a.Store.Create(ctx, claim); err != nil {
		if there, known := a.cameToBe(ctx, claim, err); there {
			return claim, nil
		} else if known {
			a.Ledger.Withdrawn(claim.Name)
		}
		return nil, fmt.Errorf("create claim of %s: %w", l.Pool, err)
	}
	return claim, nil
}

// cameToBe finds out whether a claim exists although creating it brought an
// error: a connection that broke says nothing. known is false where that
// cannot be told; the claim then stays an ordered machine of unknown fate
// until a watch shows it or the ledger gives it up.
func (a *Applier) cameToBe(ctx context.Context, claim *karpv1.NodeClaim, why error) (there, known bool) {
	var answer apierrors.APIStatus
	if errors.As(why, &answer) && answer.Status().Code < http.StatusInternalServerError {
		return false, true // refused
	}
	live := &karpv1.NodeClaim{}
	err := a.Live.Get(ctx, client.ObjectKeyFromObject(claim), live)
	return err == nil, client.IgnoreNotFound(err) == nil
}

// lostAfter is how long an order may go unseen before it is looked for. A
// watch shows a new object within milliseconds; a relist takes seconds.
const lostAfter = 20 * time.Second

// FindLost looks live for orders that no watch has shown for lostAfter, and
// forgets those that do not exist: they came and went while a watch was cut.
func (a *Applier) FindLost(ctx context.Context) error {
	var errs []error
	for _, name := range a.Ledger.unseen(a.Now().Add(-lostAfter)) {
		err := a.Live.Get(ctx, client.ObjectKey{Name: name}, &karpv1.NodeClaim{})
		if apierrors.IsNotFound(err) {
			a.Ledger.Withdrawn(name)
			continue
		}
		if err != nil {
			errs = append(errs, fmt.Errorf("look for claim %s, which no watch has shown: %w", name, err))
		}
	}
	return errors.Join(errs...)
}

// Remove lets nodes go, each by itself and without holding up the caller:
// taint, wait until no pod can still be on its way, look once more at the
// live node and its pods, and only then delete the claim. What no longer
// holds is taken back. done is told how each removal ended.
func (a *Applier) Remove(ctx context.Context, p plan.Plan, done func(plan.Removal, error)) {
	for _, r := range p.Removals {
		if !a.Ledger.Leaving(r.Node) {
			continue
		}
		a.removals.Go(func() {
			err := a.remove(ctx, r)
			if err != nil {
				a.Ledger.Stays(r.Node)
			}
			done(r, err)
		})
	}
}

// Wait returns when every removal under way has ended.
func (a *Applier) Wait() { a.removals.Wait() }

// ErrChanged says that what a removal depended on no longer holds.
var ErrChanged = errors.New("the node is no longer as the plan saw it")

func (a *Applier) remove(ctx context.Context, r plan.Removal) error {
	if err := a.taint(ctx, r.Node, func(n *corev1.Node) bool { return Taint(n, a.Now()) }); err != nil {
		return err
	}
	err := a.confirmAndDelete(ctx, r)
	if err == nil {
		return nil
	}
	if back := a.untaint(ctx, r.Node); back != nil {
		return errors.Join(err, back)
	}
	return err
}

// untaintMax is the longest pause between tries to take a taint back.
const untaintMax = 10 * time.Second

// untaint takes the taint back, again and again until it is off: a node that
// keeps it is closed to pods and counts as leaving. When ctx has ended it
// tries once more; what is left then is undone at the next start.
func (a *Applier) untaint(ctx context.Context, node string) error {
	for pause := 100 * time.Millisecond; ; pause = min(2*pause, untaintMax) {
		err := a.taint(context.WithoutCancel(ctx), node, Untaint)
		if client.IgnoreNotFound(err) == nil || ctx.Err() != nil {
			return client.IgnoreNotFound(err)
		}
		t := time.NewTimer(pause)
		select {
		case <-ctx.Done():
		case <-t.C:
		}
		t.Stop()
	}
}

func (a *Applier) confirmAndDelete(ctx context.Context, r plan.Removal) error {
	settled := time.NewTimer(SettleFor)
	defer settled.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-settled.C:
	}
	claim := &karpv1.NodeClaim{}
	if err := a.Live.Get(ctx, client.ObjectKey{Name: r.Claim}, claim); err != nil {
		return fmt.Errorf("read claim %s before its removal: %w", r.Claim, err)
	}
	if err := a.stillEmpty(ctx, r.Node); err != nil {
		return err
	}
	if err := a.Store.Delete(ctx, claim, client.Preconditions{UID: uid(claim), ResourceVersion: &claim.ResourceVersion}); err != nil {
		return fmt.Errorf("delete claim %s of empty node %s: %w", r.Claim, r.Node, err)
	}
	return nil
}

// stillEmpty reads the node and its pods from the API server itself.
func (a *Applier) stillEmpty(ctx context.Context, name string) error {
	node := &corev1.Node{}
	if err := a.Live.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return fmt.Errorf("read node %s before its removal: %w", name, err)
	}
	if translate.Node(node, nil).DoNotDisrupt {
		return fmt.Errorf("%w: node %s now carries do-not-disrupt", ErrChanged, name)
	}
	var pods corev1.PodList
	if err := a.Live.List(ctx, &pods, client.MatchingFields{indexNodeName: name}); err != nil {
		return fmt.Errorf("list pods of node %s before its removal: %w", name, err)
	}
	for i := range pods.Items {
		p := &pods.Items[i]
		if !translate.IsDaemon(p) && !translate.IsMirror(p) && !translate.IsTerminal(p) && p.DeletionTimestamp == nil {
			return fmt.Errorf("%w: pod %s/%s came to node %s", ErrChanged, p.Namespace, p.Name, name)
		}
	}
	return nil
}

// taint changes a node's taints. A node that changed meanwhile, as it does with
// every heartbeat, is read again.
func (a *Applier) taint(ctx context.Context, name string, change func(*corev1.Node) bool) error {
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		node := &corev1.Node{}
		if err := a.Live.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
			return err
		}
		before := node.DeepCopy()
		if !change(node) {
			return nil
		}
		return a.Store.Patch(ctx, node, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	})
	if err != nil {
		return fmt.Errorf("write taints of node %s: %w", name, err)
	}
	return nil
}

func uid(c *karpv1.NodeClaim) *types.UID { return &c.UID }

// Undo removes taints that an earlier run of the program left on nodes it did
// not get to delete.
func (a *Applier) Undo(ctx context.Context) error {
	var nodes corev1.NodeList
	if err := a.Live.List(ctx, &nodes); err != nil {
		return fmt.Errorf("list nodes to take stale taints off: %w", err)
	}
	slices.SortFunc(nodes.Items, func(x, y corev1.Node) int { return cmp.Compare(x.Name, y.Name) })
	var claims karpv1.NodeClaimList
	if err := a.Live.List(ctx, &claims); err != nil {
		return fmt.Errorf("list claims to take stale taints off: %w", err)
	}
	going := map[string]bool{}
	for i := range claims.Items {
		if c := &claims.Items[i]; c.DeletionTimestamp != nil {
			going[c.Status.ProviderID] = true
		}
	}
	var errs []error
	for i := range nodes.Items {
		n := &nodes.Items[i]
		if n.DeletionTimestamp != nil || going[n.Spec.ProviderID] || !translate.HasTaint(n, api.TaintDisrupted) {
			continue
		}
		errs = append(errs, a.taint(ctx, n.Name, Untaint))
	}
	return errors.Join(errs...)
}
