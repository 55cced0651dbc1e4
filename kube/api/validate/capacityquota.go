package validate

import (
	"errors"
	"fmt"
	"maps"
	"slices"

	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metav1validation "k8s.io/apimachinery/pkg/apis/meta/v1/validation"
	"k8s.io/apimachinery/pkg/util/validation/field"

	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/api/mark"
)

// CapacityQuota checks a quota, with what admission leaves to others: its selector, and the annotation that limits the
// cost.
func CapacityQuota(q *v1beta1.CapacityQuota) []Finding {
	var f findings
	for _, err := range metav1validation.ValidateLabelSelector(q.Spec.Selector,
		metav1validation.LabelSelectorValidationOptions{}, field.NewPath("spec", "selector")) {
		f.refuse(err.Field, "%s", err.ErrorBody())
	}
	for _, name := range slices.Sorted(maps.Keys(q.Spec.Limits.Resources)) {
		at, amount := fmt.Sprintf("spec.limits.resources[%s]", name), q.Spec.Limits.Resources[name]
		if f.refusedLimit(at, name) {
			continue
		}
		if _, whole := amount.AsInt64(); !whole || amount.Sign() < 0 {
			f.refuse(at, "%s is no integer of 0 or more, write one", amount.String())
		}
	}
	_, err := mark.CostLimit(q.Annotations)
	if wrong, ok := errors.AsType[*mark.Error](err); ok {
		f.refuse(wrong.Field(), "%s", wrong.Err)
	}
	if len(q.Spec.Limits.Resources) == 0 && err == nil && !limitsCost(q.ObjectMeta) {
		f.warn("spec.limits", "nothing is limited, set resources, or the annotation for the cost")
	}
	f.unknownAnnotations(q.Annotations)
	return f.all
}

func limitsCost(m metav1.ObjectMeta) bool {
	most, err := mark.CostLimit(m.Annotations)
	return err == nil && most != nil
}
