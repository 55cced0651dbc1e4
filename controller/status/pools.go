package status

import (
	"context"
	"errors"
	"fmt"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"
	"sigs.k8s.io/controller-runtime/pkg/controller/controllerutil"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/condition"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/apiclock"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

const (
	// poolsEvery is how often conditions are written on pools, and departsEvery how often an event says how far the deletion
	// of one is.
	poolsEvery   = 5 * time.Second
	departsEvery = 10 * time.Minute
)

// Pools reports on pools what blocks the disruption of their nodes, where a user should act, in the condition
// DisruptionBlocked; nothing blocks it where there is no such condition. Of pools that are being deleted and have nodes yet it
// reports how far that is, in the condition Drained and an event.
type Pools struct {
	Reporter
	Serves   translate.Generations
	Snapshot func() *cluster.Snapshot
	Stays    func(node string) string         // why the node stays, as was said last; empty: nothing is known to keep it
	Unread   func() map[cluster.PoolID]string // live state that cannot be read
	Orphans  func() map[cluster.PoolID]string // of instances that lost their claims and are held
	Doubt    apiclock.Doubt                   // of the clock, by which nothing is disrupted
}

// Round reports once, and returns when to report again.
func (r *Pools) Round(ctx context.Context) (time.Duration, error) {
	var claims karpv1.NodeClaimList
	if err := r.Store.List(ctx, &claims, client.UnsafeDisableDeepCopy); err != nil { // only read
		return poolsEvery, fmt.Errorf("list claims to report on pools: %w", err)
	}
	unread, orphans, waiting, doubt := r.Unread(), r.Orphans(), waitingAtLimit(claims.Items, r.Stays), r.Doubt.Why()
	var errs []error
	for _, g := range r.Serves {
		pools, err := g.List(ctx, r.Store, client.UnsafeDisableDeepCopy) // only read
		if err != nil {
			errs = append(errs, fmt.Errorf("report on pools: %w", err))
		}
		for _, p := range pools {
			id, next := g.ID(p.GetName()), p.DeepCopyObject().(translate.PoolResource)
			changed := r.blocked(next, holdup{doubt, unread[id], orphans[id], waiting[id]}, g.Resource)
			if p.GetDeletionTimestamp() != nil && controllerutil.ContainsFinalizer(p, api.FinalizerPoolTermination) {
				changed = r.drains(next, departureOf(r.Snapshot(), g.View(p), r.Stays), g) || changed
			}
			if changed {
				errs = append(errs, r.write(ctx, next, p))
			}
		}
	}
	return poolsEvery, errors.Join(errs...)
}

// blocked sets or clears the condition that nodes of a pool may not be disrupted, and reports whether it changed.
func (r *Pools) blocked(p translate.PoolResource, by holdup, resource string) bool {
	reason, text := by.in(resource + " " + p.GetName())
	if reason == "" {
		return condition.Clear(p, karpv1.NodePoolDisruptionBlocked)
	}
	return condition.Set(p, karpv1.NodePoolDisruptionBlocked, metav1.ConditionTrue, reason, text, r.Now())
}

// drains sets the condition that a pool which is being deleted has nodes yet, and reports whether it changed.
func (r *Pools) drains(p translate.PoolResource, now departure, g translate.Generation) bool {
	reason, text := karpv1.ReasonNodesLeft, now.String()
	if now.stuck() {
		reason = karpv1.ReasonNodesStay
	}
	if now.Left > 0 {
		text += "; " + now.way(g, p.GetName())
		r.Events.Publish(observe.Event{About: p, Key: g.ID(p.GetName()).String(), Warning: now.stuck(),
			Reason: reason, Message: text, Topic: "departure", DedupeFor: departsEvery})
	}
	return condition.SetFalse(p, karpv1.NodePoolDrained, reason, text, r.Now())
}
