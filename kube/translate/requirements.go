package translate

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
)

// FieldName is the key under which the core knows a node's name, for node
// affinity by matchFields. No label can have it.
const FieldName = "metadata.name!"

// Impossible is what no node meets.
func Impossible() constraint.Requirements {
	return constraint.NewRequirements(constraint.Requirement{Key: FieldName, Set: constraint.Set{}})
}

// Requirement converts one requirement of any object; the key is normalised.
func Requirement(key, operator string, values []string) (constraint.Requirement, error) {
	set, err := constraint.NewSet(constraint.Operator(operator), values...)
	if err != nil {
		return constraint.Requirement{}, fmt.Errorf("requirement on %s: %w", key, err)
	}
	return constraint.Requirement{Key: NormaliseKey(key), Set: set}, nil
}

// NormaliseKey replaces the older names of well-known labels by today's.
func NormaliseKey(key string) string {
	if stable, ok := api.NormalisedLabels[key]; ok {
		return stable
	}
	return key
}

// Taints converts taints, in their order.
func Taints(taints []corev1.Taint) []constraint.Taint {
	out := make([]constraint.Taint, 0, len(taints))
	for _, t := range taints {
		out = append(out, constraint.Taint{Key: t.Key, Value: t.Value, Effect: constraint.Effect(t.Effect)})
	}
	return out
}
