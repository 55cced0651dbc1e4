package validate

import (
	"fmt"
	"slices"
	"strconv"
	"strings"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/util/validation"

	"github.com/daemok/daemok/internal/nearest"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// requirement checks one requirement, its key by a rule such as badKey.
func (f *findings) requirement(field string, r karpv1.Requirement, bad func(key string) string) {
	key := api.Normalise(r.Key)
	if text := bad(key); text != "" {
		f.refuse(field+".key", "%s", text)
		return
	}
	switch r.Operator {
	case corev1.NodeSelectorOpIn, corev1.NodeSelectorOpNotIn:
		f.listed(field, key, r)
	case corev1.NodeSelectorOpGt, corev1.NodeSelectorOpLt, karpv1.OperatorGte, karpv1.OperatorLte:
		f.bound(field, r)
	case corev1.NodeSelectorOpExists, corev1.NodeSelectorOpDoesNotExist:
		if len(r.Values) > 0 {
			f.warn(field+".values", "operator %s has no use for values, remove them or use In", r.Operator)
		}
	default:
		f.refuse(field+".operator", "%q is unknown, use In, NotIn, Exists, DoesNotExist, Gt, Lt, Gte or Lte", r.Operator)
	}
}

// badKey says what is wrong with the key of a pool's label, or nothing.
func badKey(key string) string {
	if key == api.LabelNodePool || key == api.LabelProvisioner {
		return fmt.Sprintf("label %s is restricted, Daemok sets it to the name of the pool", key)
	}
	return badClaimKey(key)
}

// badClaimKey says what is wrong with the key of a label in a claim or an
// overlay, which may name the pool.
func badClaimKey(key string) string {
	return badLabel(key, api.IsRestricted)
}

// badProvisionerKey says what is wrong with the key of a Provisioner's label,
// or nothing.
func badProvisionerKey(key string) string {
	if key == api.LabelProvisioner {
		return fmt.Sprintf("label %s is restricted, Daemok sets it to the name of the Provisioner", key)
	}
	return badLabel(key, api.IsRestrictedToProvisioner)
}

func badLabel(key string, restricted func(string) bool) string {
	if problems := validation.IsQualifiedName(key); len(problems) > 0 {
		return fmt.Sprintf("%q is no label: %s", key, strings.Join(problems, ", "))
	}
	if restricted(key) {
		if near := nearest.DidYouMean(key, api.WellKnownLabels()); near != "" {
			return fmt.Sprintf("label %s is restricted and describes no instance%s", key, near)
		}
		return fmt.Sprintf("label %s is restricted, use one that describes instances or a domain of your own", key)
	}
	return ""
}

func (f *findings) listed(field, key string, r karpv1.Requirement) {
	valid := make([]string, 0, len(r.Values))
	for i, value := range r.Values {
		if problems := validation.IsValidLabelValue(value); len(problems) > 0 {
			f.refuse(fmt.Sprintf("%s.values[%d]", field, i), "%q is no value of a label: %s", value, strings.Join(problems, ", "))
			continue
		}
		valid = append(valid, value)
	}
	if len(r.Values) == 0 && r.Operator == corev1.NodeSelectorOpIn {
		f.refuse(field+".values", "operator In needs at least one value")
		return
	}
	if len(valid) < len(r.Values) || r.Operator != corev1.NodeSelectorOpIn {
		return
	}
	valid = f.known(field, key, valid)
	if r.MinValues != nil && len(valid) > 0 && distinct(valid) < *r.MinValues {
		f.refuse(field+".minValues", "%d different values are asked for but only %d can occur, list more or lower minValues",
			*r.MinValues, distinct(valid))
	}
}

// known returns the values that the label can have at all, and says so when
// some or all of them it cannot.
func (f *findings) known(field, key string, values []string) []string {
	allowed := api.AllowedValues(key)
	if allowed == nil {
		return values
	}
	known := slices.DeleteFunc(slices.Clone(values), func(v string) bool { return !slices.Contains(allowed, v) })
	if len(known) == 0 {
		f.refuse(field+".values", "%s", unknownValues(key, values, allowed))
		return nil
	}
	for _, value := range values {
		if !slices.Contains(allowed, value) {
			f.warn(field+".values", "%q is ignored, %s can only be %s", value, key, strings.Join(allowed, ", "))
		}
	}
	return known
}

// unknownValues says that a label can have none of the values.
func unknownValues(key string, values, allowed []string) string {
	words, near := make([]string, len(values)), ""
	for i, value := range values {
		words[i] = strconv.Quote(value)
		if near == "" {
			near = nearest.DidYouMean(value, allowed)
		}
	}
	if near == "" {
		near = "."
	}
	return fmt.Sprintf("%s is no value of %s%s It can only be %s", strings.Join(words, ", "), key, near, strings.Join(allowed, ", "))
}

func (f *findings) bound(field string, r karpv1.Requirement) {
	if len(r.Values) != 1 {
		f.refuse(field+".values", "operator %s needs exactly one value, not %d", r.Operator, len(r.Values))
		return
	}
	if n, err := strconv.ParseInt(r.Values[0], 10, 64); err != nil || n < 0 {
		f.refuse(field+".values", "operator %s needs an integer of zero or more, not %q", r.Operator, r.Values[0])
	}
}

func distinct(values []string) int { return len(slices.Compact(slices.Sorted(slices.Values(values)))) }
