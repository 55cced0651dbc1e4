package launch

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

// Preparer announces to the cloud launches that are likely to come. It forms the
// requests as they will be formed for the launches' claims, writes nothing in
// the cluster and launches nothing.
type Preparer struct {
	Pools     pools
	Requests  requests
	Instances preparing
	Log       *slog.Logger
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
// when that is done. What does not succeed is logged: the launch itself will
// try again, and reports it. Requests that nothing more has to be made ready for are
// formed meanwhile: what was looked up for them is known when they are needed.
func (p *Preparer) Prepare(ctx context.Context, launches []plan.Launch) {
	slots := make(chan struct{}, preparersMax)
	var calls sync.WaitGroup
	defer calls.Wait()
	first, others := unlike(launches)
	seen := map[string]bool{}
	for _, l := range first {
		r, ok := p.foresee(ctx, l)
		if !ok {
			continue
		}
		key, err := sameRequest(r)
		if err != nil || seen[key] {
			continue
		}
		seen[key] = true
		select {
		case slots <- struct{}{}:
		case <-ctx.Done():
			return
		}
		calls.Go(func() {
			defer func() { <-slots }()
			if err := p.Instances.Prepare(ctx, r.LaunchRequest); err != nil && ctx.Err() == nil {
				p.Log.Warn("could not prepare what launches will need; they continue without it", "class", r.Class.ID, "error", err.Error())
			}
		})
	}
	for _, l := range others {
		if ctx.Err() != nil {
			return
		}
		p.foresee(ctx, l)
	}
}

// unlike returns the first of those launches that need the same made ready, and those of the
// others that ask for something else: instances may differ in what they will hold.
func unlike(launches []plan.Launch) (first, others []plan.Launch) {
	seen := map[string]bool{}
	for _, l := range launches {
		ready := fmt.Sprint(l.Pool, "\n", l.Requirements, "\n", l.Labels.Map(), "\n", extendedNames(l), l.Relaxed)
		asked := fmt.Sprint(ready, "\n", l.Requests)
		switch {
		case !seen[ready]:
			first = append(first, l)
		case !seen[asked]:
			others = append(others, l)
		}
		seen[ready], seen[asked] = true, true
	}
	return first, others
}

// foresee forms the request for a launch, and logs where there is none.
func (p *Preparer) foresee(ctx context.Context, l plan.Launch) (r Request, ok bool) {
	r, err := p.requestFor(ctx, l)
	if err != nil {
		p.Log.Debug("could not prepare a launch", "pool", translate.Called(l.Pool), "error", err.Error())
	}
	return r, err == nil
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
