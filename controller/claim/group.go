package claim

import (
	"context"
	"slices"
	"strings"
	"time"

	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// batch is claims that are bought for with one request.
type batch struct {
	attempt  attempt
	claims   []*karpv1.NodeClaim // those still without a machine, sorted by name
	request  Request
	repeated bool      // the attempt may have been made before: look for its machines first
	doubtAt  time.Time // when an attempt of unknown outcome was made at the latest; zero: there is none
}

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

// batches reads the named claims and groups them: those that already carry
// an attempt by it, the others by equal request. Claims that need nothing
// are released; those that no request can be formed for are returned apart.
func (l *Launcher) batches(ctx context.Context, names []string) (out []*batch, obstacles []obstacle) {
	groups := map[string]*batch{}
	for _, name := range names {
		c := &karpv1.NodeClaim{}
		if err := l.Store.Get(ctx, client.ObjectKey{Name: name}, c); err != nil || !maybeBought(c) {
			l.queue.release(name)
			continue
		}
		key, b, err := l.groupOf(ctx, c)
		if err != nil {
			obstacles = append(obstacles, obstacle{c, err})
			continue
		}
		if known, ok := groups[key]; ok {
			b = known
		}
		b.claims = append(b.claims, c)
		groups[key] = b
	}
	for _, b := range groups {
		if b.attempt.batch == "" {
			b.attempt = attempt{newBatch(b.claims), 1}
		}
		out = append(out, b)
	}
	slices.SortFunc(out, func(a, b *batch) int { return strings.Compare(a.attempt.batch, b.attempt.batch) })
	return out, obstacles
}

func (l *Launcher) groupOf(ctx context.Context, c *karpv1.NodeClaim) (string, *batch, error) {
	r, err := l.Requests.For(ctx, c)
	if a, tried := attemptOf(c); tried {
		// The outcome of the earlier attempt is unknown: it is looked for even
		// where nothing could be bought now.
		return a.String(), &batch{attempt: a, request: r, repeated: true, doubtAt: l.Now()}, nil
	}
	if err != nil {
		return "", nil, err
	}
	key, err := sameRequest(r)
	return "new/" + key, &batch{request: r}, err
}

// maybeBought reports whether a purchase for the claim may be tried, or was
// and may have brought a machine.
func maybeBought(c *karpv1.NodeClaim) bool {
	_, tried := attemptOf(c)
	return needsMachine(c) && (tried || !translate.IsWithdrawn(c))
}

// needsMachine reports whether a machine is to be bought for the claim, which has none; a
// withdrawn one gets what was bought for it before.
func needsMachine(c *karpv1.NodeClaim) bool {
	return c.DeletionTimestamp == nil && c.Status.ProviderID == "" && !translate.Adopts(c)
}
