package nodepool

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apiclock"
	"github.com/daemok/daemok/kube/translate"
)

// holdupsEvery is how often the condition that says what holds up nodes is written on
// pools.
const holdupsEvery = 5 * time.Second

// Holdups reports on pools what blocks the disruption of their nodes, where a user should
// act, in the condition DisruptionBlocked: drift at the pool's limit, live state that
// cannot be read, a clock in doubt, and instances that lost their claims. Nothing blocks it
// where there is no such condition.
type Holdups struct {
	Store   client.Client
	Serves  translate.Generations
	Stays   func(node string) string // why a node stays that has drifted, as was said last; empty: that is not known
	Unread  func() map[cluster.PoolID]string
	Orphans func() map[cluster.PoolID]string // of instances that lost their claims and are held
	Doubt   apiclock.Doubt                   // of the clock, by which nothing is disrupted
	Now     func() time.Time
}

// Round checks once, and returns when to check again.
func (h *Holdups) Round(ctx context.Context) (time.Duration, error) {
	var claims karpv1.NodeClaimList
	if err := h.Store.List(ctx, &claims, client.UnsafeDisableDeepCopy); err != nil { // only read
		return holdupsEvery, fmt.Errorf("list claims to report what holds up nodes: %w", err)
	}
	unread, orphans, waiting, doubt := h.Unread(), h.Orphans(), h.waiting(claims.Items), h.Doubt.Why()
	var errs []error
	for _, g := range h.Serves {
		pools, err := g.List(ctx, h.Store, client.UnsafeDisableDeepCopy) // only read
		if err != nil {
			errs = append(errs, fmt.Errorf("report what holds up nodes: %w", err))
		}
		for _, p := range pools {
			id := g.ID(p.GetName())
			reason, text := holdup{doubt, unread[id], orphans[id], waiting[id]}.in(g.Resource + " " + id.Name)
			errs = append(errs, h.report(ctx, id, p, reason, text))
		}
	}
	return holdupsEvery, errors.Join(errs...)
}

// atLimit is the nodes of a pool that have drifted and wait since limits forbid to have the
// instances in their place beside them.
type atLimit struct {
	nodes int
	first string // the name of one
	why   string // it stays
}

// waiting finds such nodes, by pool.
func (h *Holdups) waiting(claims []karpv1.NodeClaim) map[cluster.PoolID]atLimit {
	out := map[cluster.PoolID]atLimit{}
	for i := range claims {
		c := &claims[i]
		if c.DeletionTimestamp != nil || !condition.IsTrue(c, karpv1.ClaimDrifted) {
			continue
		}
		if why := h.Stays(c.Status.NodeName); disruption.AtLimit(why) {
			pool := translate.PoolOf(c)
			w := out[pool]
			if w.nodes++; w.first == "" || c.Status.NodeName < w.first {
				w.first, w.why = c.Status.NodeName, why
			}
			out[pool] = w
		}
	}
	return out
}

// holdup is what is in the way of a pool's nodes.
type holdup struct {
	doubt   string // of the clock
	unread  string
	orphans string // that are held
	limit   atLimit
}

// in is the reason and the words of the condition of that pool; empty: nothing is in the
// way. What concerns every node comes first.
func (h holdup) in(pool string) (reason, text string) {
	switch w := h.limit; {
	case h.doubt != "":
		return karpv1.ReasonClockDiffers, "nothing is disrupted: " + h.doubt
	case h.unread != "":
		return karpv1.ReasonStateUnread, "nothing is disrupted while the live state cannot be read, which is tried again: " + h.unread
	case h.orphans != "":
		return karpv1.ReasonOrphansHeld, h.orphans
	case w.nodes > 0:
		return karpv1.ReasonAtLimit, fmt.Sprintf("drifted nodes that wait: %d; node %s: %s; raise spec.limits, or have nodes deleted first: kubectl annotate %s %s=%s",
			w.nodes, w.first, w.why, pool, api.AnnotationDriftAtLimit, api.DeleteFirst)
	}
	return "", ""
}

func (h *Holdups) report(ctx context.Context, id cluster.PoolID, p Object, reason, text string) error {
	next := p.DeepCopyObject().(Object)
	var changed bool
	if reason == "" {
		changed = condition.Clear(next, karpv1.NodePoolDisruptionBlocked)
	} else {
		changed = condition.Set(next, karpv1.NodePoolDisruptionBlocked, metav1.ConditionTrue, reason, text, h.Now())
	}
	if !changed {
		return nil
	}
	err := h.Store.Status().Patch(ctx, next, client.MergeFromWithOptions(p, client.MergeFromWithOptimisticLock{}))
	if err != nil && !apierrors.IsConflict(err) && !apierrors.IsNotFound(err) { // these say that the cache is a moment behind
		return fmt.Errorf("write on %s what holds its nodes up: %w", id, err)
	}
	return nil
}
