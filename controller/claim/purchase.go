package claim

import (
	"context"
	"errors"
	"log/slog"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

const (
	settleFor  = 15 * time.Second // until then a machine bought may be invisible to List
	retryFirst = time.Second
	retryMax   = time.Minute
)

// purchase carries one batch through, from its claims to their machines.
type purchase struct {
	*batch
	requests requests
	machines cloud.Machines
	outcome  outcomes
	log      *slog.Logger
	now      func() time.Time
	callFor  time.Duration
	marker   marker
	desk     desk
}

// buy carries a batch through until every claim has a machine, is given up,
// or ctx ends.
func (p *purchase) buy(ctx context.Context) {
	pause := retryFirst
	for first := true; ; first = false {
		if !first && !sleep(ctx, pause) {
			return
		}
		done, progress := p.try(ctx)
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
func (p *purchase) try(ctx context.Context) (done, progress bool) {
	if p.repeated {
		if err := p.desk.handOver(ctx, p.batch, nil); err != nil || len(p.claims) == 0 {
			return err == nil, false
		}
	}
	if len(p.request.Options) == 0 && !p.renew(ctx) {
		return len(p.claims) == 0, false
	}
	if all := p.marker.mark(ctx, p.batch); !all || len(p.claims) == 0 {
		return len(p.claims) == 0, false
	}
	count := len(p.claims)
	if p.repeated {
		members, err := p.desk.inBatch(ctx, p.attempt.batch)
		if err != nil {
			return false, false
		}
		count = takingPart(members, p.attempt)
	}
	p.repeated = true
	bought, err := p.call(ctx, count)
	return p.conclude(ctx, bought, err)
}

func (p *purchase) call(ctx context.Context, count int) ([]cloud.Machine, error) {
	r := p.request
	r.Token, r.Batch, r.Count = p.attempt.token(), p.attempt.batch, count
	ctx, cancel := context.WithTimeout(ctx, p.callFor)
	defer cancel()
	return p.machines.Launch(ctx, r)
}

// conclude acts on the answer to a purchase.
func (p *purchase) conclude(ctx context.Context, bought []cloud.Machine, err error) (done, progress bool) {
	if handErr := p.desk.handOver(ctx, p.batch, bought); handErr != nil {
		return false, false
	}
	if len(p.claims) == 0 {
		return true, true
	}
	p.tell(ctx, err)
	var short *cloud.NoCapacityError
	var mismatch *cloud.TokenMismatchError
	var refused *cloud.RefusedError
	switch {
	case errors.As(err, &short):
		p.outcome.Short(p.claims[0], err)
		return !p.another(ctx), true
	case errors.As(err, &mismatch):
		if !p.settle(ctx) {
			return len(p.claims) == 0, true
		}
		return !p.another(ctx), true
	case errors.As(err, &refused):
		p.fail(ctx, err)
		p.attempt, p.request = p.attempt.next(), cloud.LaunchRequest{}
		return false, false
	case err == nil:
		return !p.another(ctx), true // fewer than asked, without a word
	}
	p.fail(ctx, err) // outcome unknown or throttled: the same again
	return false, false
}

// tell writes one line on a purchase that did not bring all it should.
func (p *purchase) tell(ctx context.Context, why error) {
	if ctx.Err() != nil {
		return
	}
	text := "fewer machines came than were asked for"
	if why != nil {
		text = why.Error()
	}
	p.log.Warn("could not buy machines", "claims", len(p.claims), "claim", p.claims[0].Name, "pool", p.claims[0].Labels[api.LabelNodePool],
		"attempt", p.attempt.String(), "error", text)
}

// settle waits until machines of an attempt that did arrive must be visible,
// handing over what appears. It reports whether claims are left over.
func (p *purchase) settle(ctx context.Context) bool {
	for until := p.now().Add(settleFor); p.now().Before(until); {
		if !sleep(ctx, 2*time.Second) {
			return false
		}
		if err := p.desk.handOver(ctx, p.batch, nil); err == nil && len(p.claims) == 0 {
			return false
		}
	}
	return true
}

// another turns the batch to what can be had now; it gives the claims up and
// reports false when there is nothing.
func (p *purchase) another(ctx context.Context) bool {
	p.attempt, p.repeated = p.attempt.next(), false
	return p.renew(ctx)
}

// renew forms the request anew from the first claim, since all are alike.
func (p *purchase) renew(ctx context.Context) bool {
	r, err := p.requests.For(ctx, p.claims[0])
	if err != nil {
		if !giveUp(ctx, p.outcome, p.log, p.claims, err) {
			return false
		}
		p.claims = nil
		return false
	}
	p.request = r
	return true
}

func (p *purchase) fail(ctx context.Context, why error) {
	for _, c := range p.claims {
		_ = p.outcome.Failed(ctx, c, why) // said again with the next failure
	}
}

// giveUp drops claims for which nothing can be bought, and notes any other
// obstacle on them. It reports whether the claims are settled.
func giveUp(ctx context.Context, say outcomes, log *slog.Logger, claims []*karpv1.NodeClaim, why error) bool {
	settled := hopeless(why)
	if ctx.Err() == nil {
		log.Warn("found nothing to buy", "claims", len(claims), "claim", claims[0].Name, "pool", claims[0].Labels[api.LabelNodePool],
			"given up", settled, "error", why.Error())
	}
	for _, c := range claims {
		write := say.Failed
		if settled {
			write = say.NotToBeHad
		}
		if err := write(ctx, c, why); client.IgnoreNotFound(err) != nil {
			settled = false
		}
	}
	return settled
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
