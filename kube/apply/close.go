package apply

import (
	"context"
	"errors"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/client-go/util/retry"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/internal/pause"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// closeNodes keeps new pods off the nodes of a unit, and says on their claims
// why they are to go.
func (a *Applier) closeNodes(ctx context.Context, u *unit) error {
	failed := make([]error, len(u.leaving))
	each(len(u.leaving), func(i int) {
		r := u.leaving[i]
		failed[i] = a.unlessRefused(ctx, closesWithin, func() error {
			err := a.taint(ctx, r.Node, func(n *corev1.Node) bool { return Taint(n, a.Now()) })
			if err != nil {
				return err
			}
			return a.say(ctx, r.Claim, func(c *karpv1.NodeClaim) bool { return sayWhy(c, r.Removal, a.Now()) })
		})
		if apierrors.IsNotFound(failed[i]) {
			failed[i] = fmt.Errorf("%w: it is gone: %w", ErrChanged, failed[i])
		}
	})
	return errors.Join(failed...)
}

// closesWithin is how long the nodes of a move may take to be closed: those that
// are take no pods meanwhile.
const closesWithin = time.Minute

// unlessRefused repeats a write, as of an object that another controller writes at the same time or
// while the API server is not well, for so long at most. What the server refuses it will refuse
// again.
func (a *Applier) unlessRefused(ctx context.Context, timeout time.Duration, write func() error) error {
	until := a.Now().Add(timeout)
	for again := retryFirst; ; again = min(2*again, retryMax) {
		err := write()
		if err == nil || isRefusal(err) || a.Now().Add(again).After(until) {
			return err
		}
		if stopped := pause.For(ctx, again); stopped != nil {
			return stopped
		}
	}
}

func isRefusal(err error) bool {
	return apierrors.IsNotFound(err) || apierrors.IsForbidden(err) || apierrors.IsInvalid(err) || apierrors.IsBadRequest(err)
}

func sayWhy(c *karpv1.NodeClaim, r plan.Removal, now time.Time) bool {
	return condition.Set(c, karpv1.ClaimDisruptionReason, metav1.ConditionTrue, string(r.Reason), r.Note, now)
}

func sayNothing(c *karpv1.NodeClaim) bool { return condition.Clear(c, karpv1.ClaimDisruptionReason) }

// reopenMax is the longest pause between tries to open a node again.
const reopenMax = 10 * time.Second

// reopen undoes what closing did, again and again until it is done: a node
// that keeps the taint is closed to pods and counts as leaving. When ctx has
// ended it tries once more; what is left then is undone at the next start.
func (a *Applier) reopen(ctx context.Context, node, claim string) {
	a.untilDone(ctx, func(ctx context.Context) error {
		return errors.Join(
			client.IgnoreNotFound(a.taint(ctx, node, Untaint)),
			client.IgnoreNotFound(a.say(ctx, claim, sayNothing)))
	})
}

// untilDone repeats something that must be done until it succeeds, once more
// where ctx has ended.
func (a *Applier) untilDone(ctx context.Context, do func(ctx context.Context) error) {
	for again := 100 * time.Millisecond; ; again = min(2*again, reopenMax) {
		err := do(context.WithoutCancel(ctx))
		if err == nil || ctx.Err() != nil {
			return
		}
		_ = pause.For(ctx, again)
	}
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

// say changes the conditions of a claim.
func (a *Applier) say(ctx context.Context, name string, change func(*karpv1.NodeClaim) bool) error {
	err := retry.RetryOnConflict(retry.DefaultBackoff, func() error {
		claim := &karpv1.NodeClaim{}
		if err := a.Live.Get(ctx, client.ObjectKey{Name: name}, claim); err != nil {
			return err
		}
		before := claim.DeepCopy()
		if !change(claim) {
			return nil
		}
		return a.Store.Status().Patch(ctx, claim, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	})
	if err != nil {
		return fmt.Errorf("write why claim %s is to go: %w", name, err)
	}
	return nil
}
