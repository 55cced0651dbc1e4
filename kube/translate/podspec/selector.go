package podspec

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/constraint"
)

// selector converts a label selector. One that is left out chooses nothing,
// an empty one everything; one that Kubernetes cannot read is an error.
func selector(s *metav1.LabelSelector) (cluster.Selector, error) {
	if s == nil {
		return cluster.Selector{Nothing: true}, nil
	}
	if _, err := metav1.LabelSelectorAsSelector(s); err != nil {
		return cluster.Selector{}, err
	}
	var out cluster.Selector
	for key, value := range s.MatchLabels {
		out = also(out, key, constraint.Values(value))
	}
	for _, e := range s.MatchExpressions {
		set, err := constraint.NewSet(constraint.Operator(e.Operator), e.Values...)
		if err != nil {
			return cluster.Selector{}, err
		}
		out = also(out, e.Key, set)
	}
	return out, nil
}

// also narrows a selector by the labels under one key. The key is taken as it
// stands: labels of pods have no older names.
func also(s cluster.Selector, key string, set constraint.Set) cluster.Selector {
	s.Requirements = s.Requirements.And(constraint.Requirement{Key: key, Set: set})
	return s
}

// withLabels adds what matchLabelKeys or mismatchLabelKeys ask, from the
// pod's own labels. Keys that the pod does not have ask nothing, and a selector
// that chooses nothing stays so.
func withLabels(s cluster.Selector, keys []string, labels map[string]string, operator constraint.Operator) cluster.Selector {
	if s.Nothing {
		return s
	}
	for _, key := range keys {
		value, has := labels[key]
		if !has {
			continue
		}
		if set, err := constraint.NewSet(operator, value); err == nil {
			s = also(s, key, set)
		}
	}
	return s
}

// preferences are the pod's preferences for nodes, in their order. Preferences that
// weigh nothing, are empty or cannot be read move no pod.
func preferences(spec *corev1.PodSpec) []cluster.Preference {
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil {
		return nil
	}
	var out []cluster.Preference
	for _, p := range spec.Affinity.NodeAffinity.PreferredDuringSchedulingIgnoredDuringExecution {
		if term, ok := nodeSelectorTerm(&p.Preference); ok && p.Weight > 0 {
			out = append(out, cluster.Preference{Weight: p.Weight, Term: term})
		}
	}
	return out
}
