package status

import (
	"fmt"
	"slices"
	"strings"
	"time"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/api/condition"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	"github.com/daemok/daemok/kube/snapshot/policies"
	"github.com/daemok/daemok/kube/translate"
)

// policyStatus is what is observed of a policy now. It is pure.
func policyStatus(s *cluster.Snapshot, p *policies.State, now time.Time) v1alpha1.DisruptionPolicyStatus {
	o := &v1alpha1.DisruptionPolicy{ObjectMeta: p.Object.ObjectMeta, Spec: p.Object.Spec}
	o.Status.Conditions = slices.Clone(p.Object.Status.Conditions)
	if p.Object.Spec.Breaker != nil {
		o.Status.Breaker = breaker(p, now)
	}
	for _, id := range p.Pools {
		n, why := disruption.Allowed(s, id, plan.Empty, plan.Drifted, plan.Underutilized)
		o.Status.Allowed += n
		o.Status.Pools = append(o.Status.Pools, v1alpha1.PoolAllowance{Name: id.Name, Allowed: n, Because: why})
	}
	if opens := p.NextOpens(now); !opens.IsZero() {
		o.Status.NextOpens = &metav1.Time{Time: opens}
	}
	setConditions(o, p, now)
	return o.Status
}

// breaker is the next state of a breaker: it trips when too much is lost, and
// begins again once somebody has acknowledged that.
func breaker(p *policies.State, now time.Time) *v1alpha1.BreakerStatus {
	out := &v1alpha1.BreakerStatus{}
	if before := p.Object.Status.Breaker; before != nil {
		*out = *before
	}
	out.Gone, out.Most, out.FailedReplacements = p.Losses.Gone, p.Losses.Most, p.Losses.Failed
	switch {
	case out.TrippedAt != nil && p.Acknowledged():
		out.AcknowledgedAt, out.TrippedAt, out.Why = &metav1.Time{Time: now}, nil, ""
		out.Gone, out.FailedReplacements = 0, 0
	case out.TrippedAt == nil && p.Losses.Why != "":
		out.TrippedAt, out.Why = &metav1.Time{Time: now}, p.Losses.Why
	}
	return out
}

func setConditions(o *v1alpha1.DisruptionPolicy, p *policies.State, now time.Time) {
	if p.Wrong != "" {
		condition.SetFalse(o, v1alpha1.PolicyValidationSucceeded, v1alpha1.ReasonInvalid, p.Wrong+"; until it is corrected no node of its pools is disrupted voluntarily", now)
	} else {
		condition.Set(o, v1alpha1.PolicyValidationSucceeded, metav1.ConditionTrue, v1alpha1.PolicyValidationSucceeded, missing(p), now)
	}
	if b := o.Status.Breaker; b != nil && b.TrippedAt != nil {
		condition.SetFalse(o, v1alpha1.PolicyBreakerClosed, v1alpha1.ReasonBreakerTripped,
			fmt.Sprintf("%s; no node of its pools is disrupted voluntarily; once the cause is found: %s", b.Why, p.Acknowledge(b.TrippedAt.Time)), now)
	} else {
		condition.SetTrue(o, v1alpha1.PolicyBreakerClosed, now)
	}
	condition.SumUp(o, now)
}

// missing names pools that the policy names and that are not there.
func missing(p *policies.State) string {
	selection := p.Object.Spec.NodePools
	if selection == nil {
		return ""
	}
	var names []string
	for _, name := range selection.Names {
		if !slices.Contains(p.Pools, cluster.PoolID{Kind: translate.KindNodePool, Name: name}) {
			names = append(names, name)
		}
	}
	switch {
	case len(names) > 0:
		return "there is no NodePool " + strings.Join(names, ", ")
	case len(p.Pools) == 0:
		return "it selects no NodePool"
	}
	return ""
}
