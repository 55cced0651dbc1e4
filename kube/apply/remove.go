package apply

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/internal/pause"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// keptFor is how long a node whose removal was given up is left out of plans,
// so that a view that lags behind does not tax it with taints again and again.
const keptFor = 10 * time.Second

// Remove lets nodes go, each by itself and without holding up the caller:
// taint, wait until no pod can still be on its way, look once more at the
// live node, its pods and the budgets of its pool, and only then delete the
// claim. What no longer holds is taken back, and a new plan is asked for. done
// is told how each removal ended.
func (a *Applier) Remove(ctx context.Context, p plan.Plan, done func(plan.Removal, error)) {
	for _, r := range p.Removals() {
		if !a.Ledger.Leaving(r.Node) {
			continue
		}
		a.removals.Go(func() {
			err := a.remove(ctx, r)
			if err == nil {
				done(r, nil)
				return
			}
			a.Ledger.Stays(r.Node, a.Now().Add(keptFor))
			done(r, err)
			a.Again()
			if pause.For(ctx, keptFor) == nil {
				a.Again() // it may be planned for once more
			}
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
	for again := 100 * time.Millisecond; ; again = min(2*again, untaintMax) {
		err := a.taint(context.WithoutCancel(ctx), node, Untaint)
		if client.IgnoreNotFound(err) == nil || ctx.Err() != nil {
			return client.IgnoreNotFound(err)
		}
		_ = pause.For(ctx, again)
	}
}

// confirmAndDelete checks what the removal depends on against live reads and
// deletes the claim.
func (a *Applier) confirmAndDelete(ctx context.Context, r plan.Removal) error {
	if err := pause.For(ctx, SettleFor); err != nil {
		return err
	}
	claim := &karpv1.NodeClaim{}
	if err := a.Live.Get(ctx, client.ObjectKey{Name: r.Claim}, claim); err != nil {
		return fmt.Errorf("read claim %s before its removal: %w", r.Claim, err)
	}
	if err := a.stillEmpty(ctx, r.Node, claim); err != nil {
		return err
	}
	if err := a.admit(ctx, r); err != nil {
		return err
	}
	defer a.budgets.of(r.Pool).leave(r.Claim)
	if err := a.Store.Delete(ctx, claim, client.Preconditions{UID: uid(claim), ResourceVersion: &claim.ResourceVersion}); err != nil {
		return fmt.Errorf("delete claim %s of empty node %s: %w", r.Claim, r.Node, err)
	}
	return nil
}

// stillEmpty reads the node and its pods from the API server itself.
func (a *Applier) stillEmpty(ctx context.Context, name string, claim *karpv1.NodeClaim) error {
	node := &corev1.Node{}
	if err := a.Live.Get(ctx, client.ObjectKey{Name: name}, node); err != nil {
		return fmt.Errorf("read node %s before its removal: %w", name, err)
	}
	if translate.Node(node, claim).DoNotDisrupt {
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
