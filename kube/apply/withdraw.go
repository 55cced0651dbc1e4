package apply

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/pages"
	"github.com/daemok/daemok/kube/translate"
)

// ErrOrderChanged says that a launch can no longer be withdrawn as planned.
var ErrOrderChanged = errors.New("the NodeClaim is no longer as the plan saw it")

// Withdrawn is one withdrawal of a plan that was written on its claim, or the
// error that kept it from that.
type Withdrawn struct {
	plan.Withdrawal
	Object *karpv1.NodeClaim // nil where it was not written
	Err    error
}

// Withdraw annotates every claim that the plan withdraws, in parallel. From then on nothing new is
// launched for the claim, and the launching controller removes it as soon as it is certain that no
// instance is on its way to it. A claim that has its instance by now keeps it, with
// ErrOrderChanged; so do all where the plan counts on a claim that turns out not to have been
// created, or on a claim or node that goes.
func (a *Applier) Withdraw(ctx context.Context, p plan.Plan) []Withdrawn {
	out := make([]Withdrawn, len(p.Withdrawals))
	if len(out) == 0 {
		return out
	}
	err := a.othersServe(ctx, p)
	each(len(out), func(i int) {
		if err != nil {
			out[i] = Withdrawn{Withdrawal: p.Withdrawals[i], Err: err}
			return
		}
		claim, err := a.withdraw(ctx, p.Withdrawals[i])
		out[i] = Withdrawn{p.Withdrawals[i], claim, err}
	})
	return out
}

// othersServe checks whether what is to serve in place of withdrawn launches is there and stays,
// which watches may be late to deny.
func (a *Applier) othersServe(ctx context.Context, p plan.Plan) error {
	lost, err := a.forgetLost(ctx, time.Time{})
	if err != nil {
		return err
	}
	if len(lost) > 0 {
		return fmt.Errorf("%w: claim %s, its replacement, was not created", ErrOrderChanged, lost[0])
	}
	stays := map[target]bool{}
	err = pages.Each(ctx, a.Live, &karpv1.NodeClaimList{}, func(l *karpv1.NodeClaimList) {
		for i := range l.Items {
			c := &l.Items[i]
			is := c.DeletionTimestamp == nil && !translate.IsWithdrawn(c)
			stays[target{plan.OnInstance, c.Name}], stays[target{plan.OnNode, c.Status.NodeName}] = is, is
		}
	})
	if err != nil {
		return fmt.Errorf("list claims before some are withdrawn: %w", err)
	}
	for i := range p.Placements {
		to := target{p.Placements[i].On, p.Placements[i].Target}
		if is, known := stays[to]; known && !is || !known && to.on == plan.OnInstance {
			return fmt.Errorf("%w: %s %s, its replacement, is being deleted or is gone", ErrOrderChanged, to.on, to.target)
		}
	}
	return nil
}

// withdraw annotates one claim as the API server has it, unless it changed since.
func (a *Applier) withdraw(ctx context.Context, w plan.Withdrawal) (*karpv1.NodeClaim, error) {
	live := &karpv1.NodeClaim{}
	if err := a.Live.Get(ctx, client.ObjectKey{Name: w.Claim}, live); apierrors.IsNotFound(err) {
		a.Ledger.NotCreated(w.Claim) // no watch may ever show it
		return nil, fmt.Errorf("%w: claim %s is gone", ErrOrderChanged, w.Claim)
	} else if err != nil {
		return nil, fmt.Errorf("read claim %s before it is withdrawn: %w", w.Claim, err)
	}
	switch {
	case live.DeletionTimestamp != nil:
		return nil, fmt.Errorf("%w: claim %s is being deleted", ErrOrderChanged, w.Claim)
	case live.Status.ProviderID != "":
		return nil, fmt.Errorf("%w: claim %s has its instance", ErrOrderChanged, w.Claim)
	}
	before := live.DeepCopy()
	if live.Annotations == nil {
		live.Annotations = map[string]string{}
	}
	live.Annotations[api.AnnotationWithdrawn] = w.Note
	a.Ledger.Withdraws(live.Name)
	err := a.Store.Patch(ctx, live, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{}))
	switch {
	case err == nil:
		return live, nil
	case apierrors.IsConflict(err), apierrors.IsNotFound(err):
		err = fmt.Errorf("%w: claim %s changed meanwhile", ErrOrderChanged, w.Claim)
	default:
		err = fmt.Errorf("annotate claim %s as withdrawn: %w", w.Claim, err)
	}
	a.Ledger.Keeps(w.Claim)
	return nil, err
}
