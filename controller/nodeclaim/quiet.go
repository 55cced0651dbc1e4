package nodeclaim

import (
	"context"
	"errors"
	"fmt"
	"time"

	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// podEventEvery is how exactly the time of a claim's last pod event is kept
// across restarts, and how soon Consolidatable is cleared after one; while the
// process runs the time is known exactly.
const podEventEvery = 10 * time.Second

// quietMin keeps looks at all claims apart, where many become consolidatable
// one after another.
const quietMin = 200 * time.Millisecond

// seen is what the watches have shown of nodes and pools.
type seen interface {
	LastPodEvent(node string) time.Time
	Pool(id cluster.PoolID) (translate.PoolObject, bool)
}

// Quiet notes which nodes are quiet.
type Quiet struct {
	Store client.Client
	Known seen
	Now   func() time.Time
}

// Round writes on each claim when a pod last came to or left its node, where
// the claim is more than podEventEvery behind, and whether the node has been
// quiet for as long as its pool asks, so that it may be consolidated. It
// returns when to look again: when the next node has been, at the latest.
func (q *Quiet) Round(ctx context.Context) (time.Duration, error) {
	var list karpv1.NodeClaimList
	if err := q.Store.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil { // only read
		return podEventEvery, fmt.Errorf("list claims to record which nodes are quiet: %w", err)
	}
	again := podEventEvery
	var errs []error
	for i := range list.Items {
		c := &list.Items[i]
		if c.DeletionTimestamp != nil || c.Status.NodeName == "" {
			continue
		}
		due, err := q.note(ctx, c)
		if err != nil {
			errs = append(errs, err)
		}
		if !due.IsZero() {
			again = min(again, max(due.Sub(q.Now()), quietMin))
		}
	}
	return again, errors.Join(errs...)
}

// note also returns when the claim is to be looked at again; zero: when
// something changes.
func (q *Quiet) note(ctx context.Context, c *karpv1.NodeClaim) (due time.Time, err error) {
	now, last := q.Now(), q.Known.LastPodEvent(c.Status.NodeName)
	pool, found := q.Known.Pool(translate.PoolOf(c))
	is := false
	if at := consolidatableAt(c, pool, found, last); !at.IsZero() {
		if is = !now.Before(at); !is {
			due = at
		}
	}
	event := last.Sub(c.Status.LastPodEventTime.Time) >= podEventEvery
	if !event && is == (condition.Get(c, karpv1.ClaimConsolidatable) != nil) {
		return due, nil
	}
	after := c.DeepCopy()
	if event {
		after.Status.LastPodEventTime = metav1.NewTime(last)
	}
	if is {
		condition.SetTrue(after, karpv1.ClaimConsolidatable, now)
	} else {
		condition.Clear(after, karpv1.ClaimConsolidatable)
	}
	err = writeStatus(ctx, q.Store, after, c)
	if apierrors.IsConflict(err) {
		return now, nil // the cache is a moment behind
	}
	if client.IgnoreNotFound(err) != nil {
		return due, fmt.Errorf("record on claim %s whether its node is quiet: %w", c.Name, err)
	}
	return due, nil
}

// consolidatableAt is the moment from which the claim's node may be
// consolidated, as far as time goes; zero: never, as things are.
func consolidatableAt(c *karpv1.NodeClaim, pool translate.PoolObject, found bool, lastPodEvent time.Time) time.Time {
	after, ever := translate.ConsolidateAfter(pool.Disruption)
	since := translate.QuietSince(c, lastPodEvent)
	if !found || pool.Replicas != nil || !ever || since.IsZero() {
		return time.Time{}
	}
	return since.Add(after)
}
