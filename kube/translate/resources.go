// Package translate converts API objects to core values, and back: the only place where both meet.
//
// It promises to be pure: the same objects give the same values. It reads no cluster, and of a cloud
// it knows only the names of labels.
package translate

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/core/quantity"
)

// Resources converts a resource list. CPU is rounded up to thousandths of a
// core, everything else up to whole units; see Amount for what is too large.
func Resources(list corev1.ResourceList) quantity.Resources {
	var out quantity.Resources
	for name, amount := range list {
		out = out.With(string(name), Amount(string(name), amount))
	}
	return out
}

// Amount converts one quantity to the unit the core counts the resource in. More
// than can be counted, such as the sum of two containers that ask for 8Ei each, is
// quantity.Most: Value and MilliValue would wrap around.
func Amount(name string, q resource.Quantity) int64 {
	most, value := int64(quantity.Most), q.Value
	if name == quantity.NameCPU {
		most, value = quantity.Most/1000, q.MilliValue
	}
	switch {
	case q.CmpInt64(most) >= 0:
		return quantity.Most
	case q.CmpInt64(-most) <= 0:
		return -quantity.Most
	}
	return value()
}

// ResourceList converts back. Zero amounts are left out.
func ResourceList(r quantity.Resources) corev1.ResourceList {
	list := corev1.ResourceList{}
	for _, name := range r.Names() {
		list[corev1.ResourceName(name)] = Quantity(name, r.Get(name))
	}
	return list
}

// Quantity converts an amount of the named resource back, in the form a user
// would write.
func Quantity(name string, amount int64) resource.Quantity {
	switch {
	case name == quantity.NameCPU:
		return *resource.NewMilliQuantity(amount, resource.DecimalSI)
	case quantity.IsBytes(name):
		return *resource.NewQuantity(amount, resource.BinarySI)
	}
	return *resource.NewQuantity(amount, resource.DecimalSI)
}
