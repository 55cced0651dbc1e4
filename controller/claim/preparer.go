package claim

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"sync"

	"github.com/daemok/daemok/cloud"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/translate"
)

// preparersMax is how many requests are prepared at once.
const preparersMax = 4

// Preparer tells the cloud of launches that are likely to come. It forms the
// requests as they will be formed for the launches' claims, writes nothing in
// the cluster and buys nothing.
type Preparer struct {
	Pools    pools
	Requests requests
	Machines preparing
	Log      *slog.Logger
}

// pools finds a pool as it was last seen.
type pools interface {
	Pool(id cluster.PoolID) (translate.PoolObject, bool)
}

// preparing is the part of the cloud that Preparer uses.
type preparing interface {
	Prepare(ctx context.Context, r cloud.LaunchRequest) error
}

// Prepare has everything made ready that the launches will need, and returns
// when that is done. What does not succeed is logged: the purchase itself will
// try again, and tell of it.
func (p *Preparer) Prepare(ctx context.Context, launches []plan.Launch) {
	slots := make(chan struct{}, preparersMax)
	var calls sync.WaitGroup
	defer calls.Wait()
	for _, r := range p.requestsFor(ctx, launches) {
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		calls.Go(func() {
			defer func() { <-slots }()
			if err := p.Machines.Prepare(ctx, r); err != nil && ctx.Err() == nil {
				p.Log.Warn("could not make ready what launches will need, they go on without", "class", r.Class.ID, "error", err.Error())
			}
		})
	}
}

// requestsFor forms the requests for the launches, and returns one of those that are made
// ready alike: machines may differ in what they will hold. What is formed for the others
// is known when it is needed.
func (p *Preparer) requestsFor(ctx context.Context, launches []plan.Launch) []cloud.LaunchRequest {
	var out []cloud.LaunchRequest
	seen := map[string]bool{}
	for _, l := range launches {
		ready := fmt.Sprint(l.Pool, "\n", l.Requirements, "\n", l.Labels.Map(), "\n", extendedNames(l), l.Relaxed)
		likeness := fmt.Sprint(ready, "\n", l.Requests)
		if seen[likeness] {
			continue
		}
		isReady := seen[ready]
		seen[likeness], seen[ready] = true, true
		r, err := p.requestFor(ctx, l)
		if err != nil {
			p.Log.Debug("could not foresee a launch", "pool", l.Pool.String(), "error", err.Error())
			continue
		}
		key, err := sameRequest(r)
		if err != nil || isReady || seen[key] {
			continue
		}
		seen[key] = true
		out = append(out, r.LaunchRequest)
	}
	return out
}

// extendedNames are the extended resources of a launch: some need another launch template.
func extendedNames(l plan.Launch) (out []string) {
	for _, e := range l.Requests.Extended {
		out = append(out, e.Name)
	}
	return out
}

var errPoolGone = errors.New("the pool is gone")

func (p *Preparer) requestFor(ctx context.Context, l plan.Launch) (Request, error) {
	pool, known := p.Pools.Pool(l.Pool)
	if !known {
		return Request{}, errPoolGone
	}
	claim, err := translate.Claim(pool, l, "none")
	if err != nil {
		return Request{}, err
	}
	return p.Requests.For(ctx, claim)
}
