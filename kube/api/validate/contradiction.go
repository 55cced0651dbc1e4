package validate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/daemok/daemok/core/constraint"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// asked is what one requirement, or one label, asks of nodes.
type asked struct {
	field string
	set   constraint.Set
}

// contradictions refuses requirements and labels on one key that no node has
// together. Those that are wrong by themselves are left to others.
func (f *findings) contradictions(labelsAt string, labels map[string]string, at string, list []karpv1.Requirement) {
	byKey := map[string][]asked{}
	for _, key := range slices.Sorted(maps.Keys(labels)) {
		stable := api.Normalise(key)
		byKey[stable] = append(byKey[stable], asked{labelsAt + "[" + key + "]", constraint.Values(labels[key])})
	}
	for i, r := range list {
		set, err := constraint.NewSet(constraint.Operator(r.Operator), r.Values...)
		if err != nil || set.Empty() {
			continue
		}
		key, field := api.Normalise(r.Key), fmt.Sprintf("%s[%d]", at, i)
		if other, found := excludes(byKey[key], set); found {
			f.refuse(field, "no node has %s %s and also %s, as %s asks: remove one of them, or list all values in one requirement with operator In",
				r.Key, set, other.set, other.field)
			continue
		}
		byKey[key] = append(byKey[key], asked{field, set})
	}
}

// excludes finds what leaves nothing together with a set: one by itself, or the last
// of several.
func excludes(list []asked, set constraint.Set) (asked, bool) {
	for _, a := range list {
		if !a.set.Intersects(set) {
			return a, true
		}
	}
	for _, a := range list {
		if set = set.Intersect(a.set); set.Empty() {
			return a, true
		}
	}
	return asked{}, false
}
