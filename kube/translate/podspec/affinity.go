package podspec

import (
	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/translate"
)

// NodeTerms are the alternatives a pod's node selector and required node
// affinity leave, each with the selector folded in. None means any node; a
// term that can never hold stays in the list as one that allows nothing.
func NodeTerms(spec *corev1.PodSpec) []constraint.Requirements {
	selector := selectorRequirements(spec.NodeSelector)
	required := requiredNodeAffinity(spec)
	if required == nil {
		if len(selector) == 0 {
			return nil
		}
		return []constraint.Requirements{selector}
	}
	var terms []constraint.Requirements
	for i := range required.NodeSelectorTerms {
		if term, ok := nodeSelectorTerm(&required.NodeSelectorTerms[i]); ok {
			terms = append(terms, term.AndAll(selector))
		}
	}
	if len(terms) == 0 {
		return []constraint.Requirements{translate.Impossible()}
	}
	return terms
}

func requiredNodeAffinity(spec *corev1.PodSpec) *corev1.NodeSelector {
	if spec.Affinity == nil || spec.Affinity.NodeAffinity == nil {
		return nil
	}
	return spec.Affinity.NodeAffinity.RequiredDuringSchedulingIgnoredDuringExecution
}

func selectorRequirements(selector map[string]string) constraint.Requirements {
	var out constraint.Requirements
	for key, value := range selector {
		out = out.And(constraint.Requirement{Key: translate.NormaliseKey(key), Set: constraint.Values(value)})
	}
	return out
}

// nodeSelectorTerm converts one term; an empty term matches no node, and
// neither does one with an expression that Kubernetes could not evaluate.
func nodeSelectorTerm(term *corev1.NodeSelectorTerm) (constraint.Requirements, bool) {
	if len(term.MatchExpressions)+len(term.MatchFields) == 0 {
		return nil, false
	}
	var out constraint.Requirements
	for _, e := range term.MatchExpressions {
		r, err := translate.Requirement(e.Key, string(e.Operator), e.Values)
		if err != nil {
			return nil, false
		}
		out = out.And(r)
	}
	for _, f := range term.MatchFields {
		r, err := translate.Requirement(f.Key, string(f.Operator), f.Values)
		if err != nil || f.Key != "metadata.name" {
			return nil, false
		}
		r.Key = translate.FieldName
		out = out.And(r)
	}
	return out, true
}

func tolerations(list []corev1.Toleration) []constraint.Toleration {
	out := make([]constraint.Toleration, 0, len(list))
	for _, t := range list {
		if t.Operator != "" && t.Operator != corev1.TolerationOpExists && t.Operator != corev1.TolerationOpEqual {
			continue // comparisons match no taint unless the scheduler is configured to try them
		}
		out = append(out, constraint.Toleration{
			Key: t.Key, Value: t.Value,
			Exists: t.Operator == corev1.TolerationOpExists,
			Effect: constraint.Effect(t.Effect),
		})
	}
	return out
}
