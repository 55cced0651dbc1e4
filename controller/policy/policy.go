// Package policy lists DisruptionPolicies, hands them to whoever makes
// snapshots, and keeps their status true: how many nodes may go now and what
// says so, and whether the breaker has tripped.
//
// It promises that a breaker which has tripped stays so, through restarts, until
// somebody acknowledges it. It lists and does not watch, so that a kind whose
// definition is not installed, or comes later, does no harm. It lets no node go.
package policy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	"github.com/daemok/daemok/kube/snapshot"
	"github.com/daemok/daemok/observe"
)

const (
	// lookEvery is how often policies are listed. Whoever deletes a claim reads
	// them once more by itself.
	lookEvery   = 5 * time.Second
	repeatEvery = 24 * time.Hour
)

type publisher interface{ Publish(observe.Event) }

// keeper is told of policies, and knows what they come to.
type keeper interface {
	PoliciesAre(list []v1alpha1.DisruptionPolicy)
	Policies() []snapshot.PolicyState
	Snapshot() *cluster.Snapshot
}

// Teller is the round over all policies.
type Teller struct {
	Live   client.Reader // reads past every cache
	Store  client.Client
	Keeper keeper
	Events publisher
	Log    *slog.Logger
	Now    func() time.Time
}

// Round looks once, and returns when to look again.
func (t *Teller) Round(ctx context.Context) (time.Duration, error) {
	list, err := snapshot.ReadPolicies(ctx, t.Live)
	if err != nil {
		return lookEvery, err
	}
	t.Keeper.PoliciesAre(list)
	if len(list) == 0 {
		return lookEvery, nil
	}
	var errs []error
	s := t.Keeper.Snapshot()
	for _, p := range t.Keeper.Policies() {
		errs = append(errs, t.write(ctx, s, &p))
	}
	return lookEvery, errors.Join(errs...)
}

func (t *Teller) write(ctx context.Context, s *cluster.Snapshot, p *snapshot.PolicyState) error {
	before, next := p.Object, p.Object.DeepCopy()
	next.Status = status(s, p, t.Now().UTC().Truncate(time.Second))
	if !equality.Semantic.DeepEqual(before.Status, next.Status) {
		if err := t.Store.Status().Patch(ctx, next, client.MergeFromWithOptions(before, client.MergeFromWithOptimisticLock{})); err != nil {
			return fmt.Errorf("write status of %s: %w", p.Name(), err)
		}
	}
	t.tell(before, next)
	return nil
}

// tell publishes what is false of a policy, and logs what has become so.
func (t *Teller) tell(before, next *v1alpha1.DisruptionPolicy) {
	for _, kind := range next.ReadyDependsOn() {
		c := condition.Get(next, kind)
		changed := condition.IsFalse(before, kind) != condition.IsFalse(next, kind)
		switch {
		case condition.IsFalse(next, kind):
			t.Events.Publish(observe.Event{About: next, Key: next.Name + "/" + kind, Warning: true, Reason: c.Reason, Message: c.Message, DedupeFor: repeatEvery})
			if changed {
				t.Log.Warn("a DisruptionPolicy keeps the nodes of its pools", "policy", next.Name, "reason", c.Reason, "message", c.Message)
			}
		case changed:
			t.Log.Info("a DisruptionPolicy is in order again", "policy", next.Name, "condition", kind)
		}
	}
}
