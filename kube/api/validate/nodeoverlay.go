package validate

import (
	"fmt"
	"strconv"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
)

// NodeOverlay checks an overlay by itself; conflicts between overlays show
// only where they are applied.
func NodeOverlay(o *v1alpha1.NodeOverlay) []Finding {
	var f findings
	for i, r := range o.Spec.Requirements {
		field := fmt.Sprintf("spec.requirements[%d]", i)
		f.requirement(field, karpv1.Requirement{Key: r.Key, Operator: r.Operator, Values: r.Values}, badClaimKey)
	}
	if o.Spec.Price != nil {
		f.amount("spec.price", *o.Spec.Price)
	}
	if o.Spec.Price == nil && o.Spec.PriceAdjustment == nil && len(o.Spec.Capacity) == 0 {
		f.warn("spec", "nothing is corrected, set price, priceAdjustment or capacity")
	}
	return f.all
}

// amount refuses a price that is written well but cannot be represented.
func (f *findings) amount(field, text string) {
	if _, err := strconv.ParseFloat(text, 64); err != nil {
		f.refuse(field, "%q is no amount of dollars, write a decimal such as 0.096", text)
	}
}
