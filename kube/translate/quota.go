package translate

import (
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/api/validate"
)

// Quota converts a CapacityQuota, without what counts against it. Of one that cannot be used it says which fields are
// wrong, and the way out: then nothing may be launched that it may select, which is everything where its selector is
// wrong.
func Quota(q *v1beta1.CapacityQuota) cluster.Quota {
	out := cluster.Quota{Name: q.Name, Unreadable: validate.Refusal(validate.CapacityQuota(q))}
	if selector, err := selectorOf(q.Spec.Selector); err == nil {
		out.Selector = selector
	}
	if out.Unreadable != "" {
		return out
	}
	out.Limits = limits(q.Spec.Limits.Resources)
	out.Limits.Cost, _ = mark.CostLimit(q.Annotations) // checked above
	return out
}

// selectorOf is a label selector as requirements: none where it selects everything.
func selectorOf(s *metav1.LabelSelector) (out constraint.Requirements, err error) {
	if _, err := metav1.LabelSelectorAsSelector(s); err != nil || s == nil {
		return nil, err
	}
	for _, key := range slices.Sorted(maps.Keys(s.MatchLabels)) {
		set := constraint.Values(s.MatchLabels[key])
		out = out.And(constraint.Requirement{Key: NormaliseKey(key), Set: set})
	}
	for _, e := range s.MatchExpressions {
		r, err := Requirement(e.Key, string(e.Operator), e.Values)
		if err != nil {
			return nil, err
		}
		out = out.And(r)
	}
	return out, nil
}
