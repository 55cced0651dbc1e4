package translate

import (
	"cmp"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/overlay"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/kube/api/validate"
)

// Overlay converts a NodeOverlay. The error names every field that cannot be used, and the way out.
func Overlay(o *v1alpha1.NodeOverlay) (cluster.Overlay, error) {
	out := cluster.Overlay{Name: o.Name}
	if wrong := validate.Refusal(validate.NodeOverlay(o)); wrong != "" {
		return out, errors.New(wrong)
	}
	if o.Spec.Weight != nil {
		out.Weight = int(*o.Spec.Weight)
	}
	for i, r := range o.Spec.Requirements {
		one, err := Requirement(r.Key, string(r.Operator), r.Values)
		if err != nil {
			return out, fmt.Errorf("spec.requirements[%d]: %w", i, err)
		}
		out.Requirements = out.Requirements.And(one)
	}
	if text := cmp.Or(o.Spec.Price, o.Spec.PriceAdjustment); text != nil { // not both: the API server sees to that
		var err error
		if out.Price, err = cluster.ParsePriceChange(*text); err != nil {
			return out, fmt.Errorf("spec: %w", err)
		}
	}
	for name, amount := range o.Spec.Capacity {
		out.Capacity = append(out.Capacity, quantity.Extended{Name: string(name), Amount: Amount(string(name), amount)})
	}
	slices.SortFunc(out.Capacity, func(a, b quantity.Extended) int { return cmp.Compare(a.Name, b.Name) })
	return out, nil
}

// RecordOverlays writes on a claim's annotations that overlays set the price of its offering and resources of its
// instance type, as changes says; of others it takes that away.
func RecordOverlays(annotations map[string]string, changes overlay.Changes) {
	delete(annotations, api.AnnotationPriceOverlayApplied)
	delete(annotations, api.AnnotationCapacityOverlayApplied)
	if changes.Price {
		annotations[api.AnnotationPriceOverlayApplied] = "true"
	}
	if len(changes.Resources) > 0 {
		annotations[api.AnnotationCapacityOverlayApplied] = strings.Join(changes.Resources, ",")
	}
}
