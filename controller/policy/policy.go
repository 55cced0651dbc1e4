// Package policy lists DisruptionPolicies and updates their status. The status says how many nodes may
// be disrupted now, which rule sets that number, and whether the breaker has tripped.
//
// It promises that a tripped breaker stays tripped, through restarts, until a user acknowledges it. It
// lists and does not watch, so that a kind whose definition is not installed, or is installed later,
// does no harm. It removes no nodes.
package policy

import (
	"context"
	"errors"
	"fmt"
	"log/slog"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/equality"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	"github.com/daemok/daemok/kube/snapshot/policies"
	"github.com/daemok/daemok/observe"
)

const (
	// checkEvery is how often policies are listed. Whoever deletes a claim reads
	// them once more by itself.
	checkEvery  = 5 * time.Second
	repeatEvery = 24 * time.Hour
)

type publisher interface{ Publish(observe.Event) }

// cluster state is told of policies, and knows what they come to.
type clusterState interface {
	PoliciesAre(list []v1alpha1.DisruptionPolicy)
	Policies() []policies.State
	Snapshot() *cluster.Snapshot
}

// Recorder is the round over all policies.
type Recorder struct {
	Live         client.Reader // reads past every cache
	Store        client.Client
	ClusterState clusterState
	Events       publisher
	// Tripped is set by policy; those without a breaker have none.
	Tripped *prometheus.GaugeVec
	Log     *slog.Logger
	Now     func() time.Time
}

// Round looks once, and returns when to look again.
func (t *Recorder) Round(ctx context.Context) (time.Duration, error) {
	list, err := policies.Read(ctx, t.Live)
	if err != nil {
		return checkEvery, err
	}
	t.ClusterState.PoliciesAre(list)
	states := t.ClusterState.Policies()
	next := make([]*v1alpha1.DisruptionPolicy, len(states))
	errs := make([]error, len(states))
	if len(states) > 0 {
		s := t.ClusterState.Snapshot()
		for i := range states {
			next[i], errs[i] = t.write(ctx, s, &states[i])
		}
	}
	t.measure(next)
	return checkEvery, errors.Join(errs...)
}

// write brings the status of a policy up to date, and returns the policy with it.
// It is written whole: a patch would leave out that none may go, which is how a
// policy begins here and not at the API server, where nothing is said yet.
func (t *Recorder) write(ctx context.Context, s *cluster.Snapshot, p *policies.State) (next *v1alpha1.DisruptionPolicy, err error) {
	before := p.Object
	next = before.DeepCopy()
	next.Status = status(s, p, t.Now().UTC().Truncate(time.Second))
	if !equality.Semantic.DeepEqual(before.Status, next.Status) {
		if err := t.Store.Status().Update(ctx, next); err != nil {
			return next, fmt.Errorf("write status of %s: %w", p.Name(), err)
		}
	}
	t.report(before, next)
	return next, nil
}

// measure tells which breakers have tripped, of those that there are.
func (t *Recorder) measure(list []*v1alpha1.DisruptionPolicy) {
	t.Tripped.Reset()
	for _, p := range list {
		if b := p.Status.Breaker; b != nil {
			tripped := 0.0
			if b.TrippedAt != nil {
				tripped = 1
			}
			t.Tripped.WithLabelValues(p.Name).Set(tripped)
		}
	}
}

// report publishes what is false of a policy, and logs what has become so.
func (t *Recorder) report(before, next *v1alpha1.DisruptionPolicy) {
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
			t.Log.Info("a DisruptionPolicy no longer blocks disruption", "policy", next.Name, "condition", kind)
		}
	}
}
