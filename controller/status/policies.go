package status

import (
	"context"
	"errors"
	"fmt"
	"time"

	"github.com/prometheus/client_golang/prometheus"
	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	"github.com/daemok/daemok/kube/snapshot/policies"
)

// policiesEvery is how often policies are listed. Whoever deletes a claim reads them once more by itself.
const policiesEvery = 5 * time.Second

// Policies lists DisruptionPolicies and writes their status: how many nodes may be disrupted now, which rule sets that
// number, and whether the breaker has tripped. A tripped breaker stays tripped, through restarts, until a user acknowledges
// it.
type Policies struct {
	Reporter
	// ClusterState receives policies, and says what they come to.
	ClusterState interface {
		PoliciesAre(list []v1alpha1.DisruptionPolicy)
		Policies() []policies.State
		Snapshot() *cluster.Snapshot
	}
	Tripped *prometheus.GaugeVec // by policy; those without a breaker have none
}

// Round checks once, and returns when to check again.
func (r *Policies) Round(ctx context.Context) (time.Duration, error) {
	list, err := policies.Read(ctx, r.Live)
	if err != nil {
		return policiesEvery, err
	}
	r.ClusterState.PoliciesAre(list)
	states := r.ClusterState.Policies()
	next := make([]*v1alpha1.DisruptionPolicy, len(states))
	errs := make([]error, len(states))
	if len(states) > 0 {
		s := r.ClusterState.Snapshot()
		for i := range states {
			next[i], errs[i] = r.update(ctx, s, &states[i])
		}
	}
	r.measure(next)
	return policiesEvery, errors.Join(errs...)
}

// update brings the status of a policy up to date, and returns the policy with it.
// It is written whole: a patch would leave out that none may go, which is how a
// policy begins here and not at the API server, where nothing is said yet.
func (r *Policies) update(ctx context.Context, s *cluster.Snapshot, p *policies.State) (next *v1alpha1.DisruptionPolicy, err error) {
	before := p.Object
	next = before.DeepCopy()
	next.Status = policyStatus(s, p, r.Now().UTC().Truncate(time.Second))
	if !equality.Semantic.DeepEqual(before.Status, next.Status) {
		if err := r.Store.Status().Update(ctx, next); err != nil {
			return next, fmt.Errorf("write status of %s: %w", p.Name(), err)
		}
	}
	r.report(before, next)
	return next, nil
}

// measure tells which breakers have tripped, of those that there are.
func (r *Policies) measure(list []*v1alpha1.DisruptionPolicy) {
	r.Tripped.Reset()
	for _, p := range list {
		if b := p.Status.Breaker; b != nil {
			tripped := 0.0
			if b.TrippedAt != nil {
				tripped = 1
			}
			r.Tripped.WithLabelValues(p.Name).Set(tripped)
		}
	}
}

// report publishes what is false of a policy, and logs what has become so.
func (r *Policies) report(before, next *v1alpha1.DisruptionPolicy) {
	for _, kind := range next.ReadyDependsOn() {
		c := condition.Get(next, kind)
		changed := condition.IsFalse(before, kind) != condition.IsFalse(next, kind)
		switch {
		case condition.IsFalse(next, kind):
			r.warn(next, next.Name+"/"+kind, c.Reason, c.Message)
			if changed {
				r.Log.Warn("a DisruptionPolicy keeps the nodes of its pools", "policy", next.Name, "reason", c.Reason, "message", c.Message)
			}
		case changed:
			r.Log.Info("a DisruptionPolicy no longer blocks disruption", "policy", next.Name, "condition", kind)
		}
	}
}
