package launch

import (
	"context"
	"errors"
	"log/slog"
	"slices"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// launch carries a batch through until every claim has an instance, is given up,
// or ctx ends. Each claim is released once the batch is done with it.
func (p *batchLaunch) run(ctx context.Context) {
	held := p.names()
	defer func() { p.release(held...) }()
	again := retryFirst
	for first := true; ; first = false {
		if !first && !p.atOnce && !p.rest(ctx, p.cut(again)) {
			return
		}
		done, progress := p.try(ctx)
		if done || ctx.Err() != nil {
			return
		}
		left := p.names()
		p.release(slices.DeleteFunc(held, func(name string) bool { return slices.Contains(left, name) })...)
		held = left
		if again = min(again*2, retryMax); progress {
			again = retryFirst
		}
	}
}

// rest waits before the next try, for d or until no claim is needed any more;
// it reports false when ctx ended first.
func (p *batchLaunch) rest(ctx context.Context, d time.Duration) bool {
	t := time.NewTimer(d)
	defer t.Stop()
	for {
		select {
		case <-ctx.Done():
			return false
		case <-t.C:
			p.marker.recordWithdrawn(ctx, p.claims)
			return true
		case <-p.nudged:
			if p.marker.recordWithdrawn(ctx, p.claims); p.allWithdrawn() {
				return true
			}
		}
	}
}

// try makes one attempt. It reports whether the batch is done and whether
// anything moved, so that the next try need not wait long.
func (p *batchLaunch) try(ctx context.Context) (done, progress bool) {
	p.atOnce = false
	if p.repeated {
		if err := p.handover.handOver(ctx, p.batch, nil); err != nil && !p.mayIgnore(err) || len(p.claims) == 0 {
			return len(p.claims) == 0, false
		}
	}
	if !p.drop(ctx) || len(p.request.Options) == 0 && !p.renew(ctx) {
		return len(p.claims) == 0, false
	}
	if p.repeated && p.request.isOfAnotherClass(p.claims[0]) {
		if !p.stabilize(ctx) {
			return len(p.claims) == 0, false
		}
		p.attempt, p.repeated = p.attempt.next(), false
	}
	if all := p.marker.mark(ctx, p.batch); !all || len(p.claims) == 0 {
		return len(p.claims) == 0, false
	}
	count := len(p.claims)
	if p.repeated {
		members, err := p.handover.roster.inBatch(ctx, p.attempt.batch)
		if err != nil {
			return false, false
		}
		count = takingPart(members, p.attempt)
	}
	p.repeated = true
	launched, err := p.call(ctx, min(count, p.most())) // the rest by the next attempts
	return p.conclude(ctx, launched, err)
}

// conclude acts on the answer to a launch.
func (p *batchLaunch) conclude(ctx context.Context, launched []cloud.Instance, err error) (done, progress bool) {
	if handErr := p.handover.handOver(ctx, p.batch, launched); handErr != nil {
		p.doubt(err)
		return false, false
	}
	if len(p.claims) == 0 {
		return true, true
	}
	full := err == nil && len(launched) == p.most()
	if !full {
		p.report(ctx, err)
	}
	var short *cloud.NoCapacityError
	var mismatch *cloud.TokenMismatchError
	var refused *cloud.RefusedError
	switch {
	case err == nil: // as many as one request may bring, or fewer than asked, without a word
		p.doubtUntil = time.Time{}
	case errors.As(err, &short):
		p.outcome.Short(p.claims, err)
		if short.Answered { // to every request of this attempt, and what there is was handed over
			p.doubtUntil = time.Time{}
		}
	case errors.As(err, &mismatch):
		p.doubt(err)
	case errors.As(err, &refused):
		p.fail(ctx, err)
	default: // throttled, or none knows: the same again
		p.doubt(err)
		p.fail(ctx, err)
		return false, false
	}
	if !p.stabilize(ctx) {
		return len(p.claims) == 0, true
	}
	asked := p.request.Options
	p.advance()
	if refused != nil {
		return false, false // what was refused is not asked for again at once
	}
	if p.renew(ctx) {
		p.atOnce = full || short != nil && short.Answered && !slices.Equal(asked, p.request.Options)
	}
	return len(p.claims) == 0, true
}

// renew forms the request again from the first claim, since all are alike. It
// reports false where there is none: then the claims are given up, unless the
// obstacle may pass.
func (p *batchLaunch) renew(ctx context.Context) bool {
	r, err := p.requests.For(ctx, p.claims[0])
	if hopeless(err) && p.inDoubt() {
		if !p.stabilize(ctx) {
			return false
		}
		r, err = p.requests.For(ctx, p.claims[0])
	}
	if err != nil {
		p.claims = giveUp(ctx, p.outcome, p.log, p.claims, err)
		return false
	}
	p.request = r
	return true
}

// giveUp drops claims for which nothing can be launched, and notes any other
// obstacle on them. It returns those that are still to be launched for.
func giveUp(ctx context.Context, say outcomes, log *slog.Logger, claims []*karpv1.NodeClaim, why error) []*karpv1.NodeClaim {
	stable := hopeless(why)
	if ctx.Err() == nil {
		log.Warn("found no offering to launch", "claims", len(claims), "claim", claims[0].Name, "pool", translate.PoolCalled(claims[0].Labels),
			"givenUp", stable, "error", why.Error())
	}
	var left []*karpv1.NodeClaim
	for _, c := range claims {
		write := say.Failed
		if stable {
			write = say.NotToBeHad
		}
		if err := write(ctx, c, why); !stable || client.IgnoreNotFound(err) != nil {
			left = append(left, c)
		}
	}
	return left
}
