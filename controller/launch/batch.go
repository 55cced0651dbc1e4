package launch

import (
	"context"
	"encoding/json"
	"reflect"
	"runtime"
	"slices"
	"strings"
	"time"

	"golang.org/x/sync/errgroup"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// batch is claims that are launched for with one request.
type batch struct {
	attempt    attempt
	claims     []*karpv1.NodeClaim // those still without an instance, sorted by name
	request    Request
	repeated   bool      // the attempt may have been made before: look for its instances first
	doubtUntil time.Time // when instances of a call of unknown outcome are in lists at the latest; zero: there is none
}

const (
	stabilizeFor = 15 * time.Second // until then an instance launched may be invisible to List
	lateFor      = 2 * time.Minute  // until then a call that was not answered may still launch: AWS names no time, see ADR 11
)

// obstacle is why no request can be formed for a claim.
type obstacle struct {
	claim *karpv1.NodeClaim
	why   error
}

func (b *batch) names() []string {
	names := make([]string, len(b.claims))
	for i, c := range b.claims {
		names[i] = c.Name
	}
	return names
}

// batcher forms batches of claims.
type batcher struct {
	store    client.Reader
	requests requests
	now      func() time.Time
}

// batches groups claims: those that already carry
// an attempt by it, the others by equal request. Those that no request can be formed for are returned apart.
func (b batcher) batches(ctx context.Context, claims []*karpv1.NodeClaim) (out []*batch, obstacles []obstacle) {
	groups := map[string]*batch{}
	for i, f := range b.form(ctx, claims) {
		key, its, err := b.groupOf(claims[i], f)
		if err != nil {
			obstacles = append(obstacles, obstacle{claims[i], err})
			continue
		}
		if known, ok := groups[key]; ok {
			its = known
		}
		its.claims = append(its.claims, claims[i])
		groups[key] = its
	}
	for _, its := range groups {
		if its.attempt.batch == "" {
			its.attempt = attempt{newBatch(its.claims), 1}
		}
		out = append(out, its)
	}
	slices.SortFunc(out, func(a, b *batch) int { return strings.Compare(a.attempt.batch, b.attempt.batch) })
	return out, obstacles
}

// read returns the named claims; those that need nothing are returned apart, by name.
func (b batcher) read(ctx context.Context, names []string) (claims []*karpv1.NodeClaim, needless []string) {
	claims = make([]*karpv1.NodeClaim, 0, len(names))
	for _, name := range names {
		c := &karpv1.NodeClaim{}
		if err := b.store.Get(ctx, client.ObjectKey{Name: name}, c); err != nil || !maybeLaunched(c) {
			needless = append(needless, name)
			continue
		}
		claims = append(claims, c)
	}
	return claims, needless
}

// formed is the request for a claim, what it has in common with those that can be launched
// with it, or why there is none.
type formed struct {
	claim   *karpv1.NodeClaim
	request Request
	key     string
	err     error
}

// form forms the request of each claim. Claims that say the same share one: of a thousand
// pods with an instance each, all do.
func (b batcher) form(ctx context.Context, claims []*karpv1.NodeClaim) []*formed {
	out := make([]*formed, len(claims))
	alike := map[string][]*formed{}
	var work errgroup.Group
	work.SetLimit(runtime.GOMAXPROCS(0))
	for i, c := range claims {
		words := wordsOf(c)
		if at := slices.IndexFunc(alike[words], func(f *formed) bool { return reflect.DeepEqual(f.claim.Spec.Requirements, c.Spec.Requirements) }); at >= 0 {
			out[i] = alike[words][at]
			continue
		}
		f := &formed{claim: c}
		alike[words], out[i] = append(alike[words], f), f
		work.Go(func() error {
			if f.request, f.err = b.requests.For(ctx, c); f.err == nil {
				f.key, f.err = sameRequest(f.request)
			}
			return nil
		})
	}
	work.Wait() //nolint:errcheck // each request keeps its own error
	return out
}

// wordsOf is equal for claims that say the same of the instance they want, their
// requirements aside: those are long, and sooner compared than written.
func wordsOf(c *karpv1.NodeClaim) string {
	spec := c.Spec
	spec.Requirements = nil
	text, err := json.Marshal([]any{spec, c.Labels, c.Annotations})
	if err != nil {
		return "claim " + c.Name // alike to none
	}
	return string(text)
}

func (b batcher) groupOf(c *karpv1.NodeClaim, f *formed) (string, *batch, error) {
	if a, tried := attemptOf(c); tried {
		// The outcome of the earlier attempt is unknown: it is looked for even
		// where nothing could be launched now.
		return a.String(), &batch{attempt: a, request: f.request, repeated: true, doubtUntil: b.now().Add(lateFor + stabilizeFor)}, nil
	}
	return "new/" + f.key, &batch{request: f.request}, f.err
}
