package launch

import (
	"context"
	"errors"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/internal/pause"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// How often instances of unknown outcome are looked for: often at first.
const (
	stabilizeEvery = 2 * time.Second
	stabilizeMax   = 8 * time.Second
)

func (b *batch) inDoubt() bool { return !b.doubtUntil.IsZero() }

// doubt records that instances of the attempt may exist that are not known. A call
// that was not answered may take effect later, and so long an attempt of another token
// would launch a second time. One whose token the cloud knows by now does not.
func (p *batchLaunch) doubt(why error) {
	until := p.now().Add(stabilizeFor)
	_, isKnown := errors.AsType[*cloud.TokenMismatchError](why)
	switch {
	case isKnown:
		p.doubtUntil = until
		return
	case why != nil:
		until = until.Add(lateFor)
	}
	if until.After(p.doubtUntil) {
		p.doubtUntil = until
	}
}

// stabilize ends the doubt about attempts of unknown outcome: it looks until a
// look that succeeded began so late that their instances must have been
// launched and visible, and hands over what appears. Instances that cannot be written on
// claims do not keep those whose time has run out. It reports whether claims
// are left.
func (p *batchLaunch) stabilize(ctx context.Context) bool {
	for again := stabilizeEvery / 2; p.inDoubt(); {
		at := p.now()
		err := p.handover.handOver(ctx, p.batch, nil)
		switch {
		case err != nil && !p.mayIgnore(err):
			again = min(again*2, retryMax)
		case len(p.claims) == 0:
			return false
		case !at.Before(p.doubtUntil):
			p.doubtUntil = time.Time{}
			return true
		default:
			again = max(min(again*2, stabilizeMax, p.doubtUntil.Sub(at)), time.Millisecond)
		}
		if pause.For(ctx, p.cut(again)) != nil {
			return false
		}
	}
	return true
}

// mayIgnore reports whether an obstacle to handing instances over no longer
// matters, since the claims' time has run out anyway.
func (p *batchLaunch) mayIgnore(err error) bool { return errors.Is(err, errUnwritten) && p.anyLate() }

// drop lets go the claims that have had their time, and those that were
// withdrawn, once it is certain that no instance is on its way to them. The
// doubt about withdrawn ones is not waited for while others of the batch are to
// be launched for: pods wait for those. It reports whether all that are left may
// still be launched for.
func (p *batchLaunch) drop(ctx context.Context) bool {
	if !p.anyLate() && (!p.anyWithdrawn() || p.inDoubt() && !p.allWithdrawn()) {
		return true
	}
	if !p.stabilize(ctx) {
		return false
	}
	all, held := true, len(p.claims)
	var left []*karpv1.NodeClaim
	for _, c := range p.claims {
		if letGo := p.endOf(c); letGo != nil {
			if err := letGo(ctx, c); client.IgnoreNotFound(err) == nil {
				continue
			}
			all = false
		}
		left = append(left, c)
	}
	if p.claims = left; len(left) < held && p.repeated {
		p.advance() // what was asked for before was so many instances
	}
	return all && len(left) > 0
}

// endOf is how a claim that nothing more is launched for goes; nil if it stays.
func (p *batchLaunch) endOf(c *karpv1.NodeClaim) func(context.Context, *karpv1.NodeClaim) error {
	switch {
	case p.isLate(c):
		return p.outcome.TooLate
	case translate.IsWithdrawn(c):
		return p.outcome.Withdrawn
	}
	return nil
}

// cut is the pause until the next try, cut short where a claim's time ends.
func (p *batchLaunch) cut(wait time.Duration) time.Duration {
	for _, c := range p.claims {
		if left := launchFor - p.now().Sub(c.CreationTimestamp.Time); left > 0 {
			wait = min(wait, left)
		}
	}
	return wait
}

func (p *batchLaunch) anyLate() bool { return slices.ContainsFunc(p.claims, p.isLate) }

func (p *batchLaunch) anyWithdrawn() bool {
	return slices.ContainsFunc(p.claims, translate.IsWithdrawn)
}

func (p *batchLaunch) allWithdrawn() bool {
	return !slices.ContainsFunc(p.claims, func(c *karpv1.NodeClaim) bool { return !translate.IsWithdrawn(c) })
}

func (p *batchLaunch) isLate(c *karpv1.NodeClaim) bool {
	return p.now().Sub(c.CreationTimestamp.Time) >= launchFor && p.ageless.Why() == ""
}
