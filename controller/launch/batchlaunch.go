package launch

import (
	"context"
	"log/slog"
	"time"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/offering"
	"github.com/daemok/daemok/kube/apiclock"
	"github.com/daemok/daemok/kube/translate"
)

const (
	retryFirst = time.Second
	retryMax   = time.Minute
)

// batchLaunch carries one batch through, from its claims to their instances.
type batchLaunch struct {
	*batch
	requests  requests
	instances cloud.Instances
	outcome   outcomes
	log       *slog.Logger
	now       func() time.Time
	ageless   apiclock.Doubt // by now, no claim is too late
	callFor   time.Duration
	marker    marker
	handover  handover
	nudged    <-chan struct{}                                            // a claim of the batch was withdrawn
	release   func(names ...string)                                      // lets claims come back on their own
	called    func(claims []string, from time.Time, came int, err error) // called after each call; nil: none
	atOnce    bool                                                       // the next try need not wait: other offerings are left than those that were short
}

// most is how many instances one request may bring.
func (p *batchLaunch) most() int {
	if room := p.request.Room; room > 0 {
		return min(room, offering.InstancesMax)
	}
	return offering.InstancesMax
}

func (p *batchLaunch) call(ctx context.Context, count int) ([]cloud.Instance, error) {
	r := p.request.LaunchRequest
	r.Token, r.Batch, r.Count = p.attempt.token(), p.attempt.batch, count
	if few := p.request.Few; len(few) > 0 {
		p.outcome.Few(p.claims[0], few)
	}
	p.log.Debug("launching nodeclaim(s)", "claims", count, "claim", p.claims[0].Name, "pool", translate.PoolCalled(p.claims[0].Labels),
		"attempt", p.attempt.String(), "offerings", len(r.Options), "leftOut", p.request.LeftOut)
	ctx, cancel := context.WithTimeout(ctx, p.callFor)
	defer cancel()
	from := p.now()
	came, err := p.instances.Launch(ctx, r)
	if p.called != nil {
		p.called(p.names(), from, len(came), err)
	}
	return came, err
}

// advance goes on to another attempt, now that the outcome of the last is known.
func (p *batchLaunch) advance() {
	p.attempt, p.repeated, p.request = p.attempt.next(), false, Request{}
}

// report writes one line on a launch that did not bring all it should.
func (p *batchLaunch) report(ctx context.Context, why error) {
	if ctx.Err() != nil {
		return
	}
	text := "fewer instances were launched than requested"
	if why != nil {
		text = why.Error()
	}
	p.log.Warn("could not launch nodeclaim(s)", "claims", len(p.claims), "claim", p.claims[0].Name, "pool", translate.PoolCalled(p.claims[0].Labels),
		"attempt", p.attempt.String(), "error", text)
}

func (p *batchLaunch) fail(ctx context.Context, why error) {
	for _, c := range p.claims {
		_ = p.outcome.Failed(ctx, c, why) // said again with the next failure
	}
}
