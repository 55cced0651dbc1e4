package v1alpha5

import (
	"encoding/json"
	"fmt"
	"maps"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"

	"github.com/daemok/daemok/kube/api/open"
)

// Limits are the most that nodes may have together. What is written beside
// resources in place of in it counts as if it were there.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Limits struct {
	// Resources are the limits, by resource.
	//
	// +kubebuilder:validation:XValidation:rule="self.all(k, type(self[k]) == int || !self[k].endsWith('%'))",message="a limit cannot be a percentage, write an amount such as 1000 or 1000Gi"
	// +optional
	Resources corev1.ResourceList `json:"resources,omitempty"`

	// CPU is treated as resources.cpu, the proper place of the limit.
	//
	// +kubebuilder:validation:XValidation:rule="type(self) == int || !self.endsWith('%')",message="a limit cannot be a percentage, write an amount such as 1000"
	// +optional
	CPU *resource.Quantity `json:"cpu,omitempty"`

	// Memory is treated as resources.memory, the proper place of the limit.
	//
	// +kubebuilder:validation:XValidation:rule="type(self) == int || !self.endsWith('%')",message="a limit cannot be a percentage, write an amount such as 1000Gi"
	// +optional
	Memory *resource.Quantity `json:"memory,omitempty"`

	// Further are all other fields, as written: limits on other resources that
	// belong into resources.
	Further open.Fields `json:"-"`
}

// typedLimits has the fields of Limits without its methods.
type typedLimits Limits

// UnmarshalJSON reads the typed fields and keeps the further ones as written.
func (l *Limits) UnmarshalJSON(data []byte) error {
	var typed typedLimits
	further, err := open.Read(data, &typed)
	if err != nil {
		return fmt.Errorf("read limits: %w", err)
	}
	*l = Limits(typed)
	l.Further = further
	return nil
}

// MarshalJSON writes the typed fields and the further ones as one document.
// The receiver is a value so that copies marshal alike.
func (l Limits) MarshalJSON() ([]byte, error) { return open.Write(typedLimits(l), l.Further) }

// Beside returns the limits that are written beside resources, nil for none,
// and by name what is written there and is no amount. The caller owns both.
func (l *Limits) Beside() (limits corev1.ResourceList, wrong open.Fields) {
	limits, wrong = corev1.ResourceList{}, open.Fields{}
	for name, value := range l.Further {
		var amount resource.Quantity
		if json.Unmarshal(value.Raw, &amount) != nil {
			wrong[name] = value
			continue
		}
		limits[corev1.ResourceName(name)] = amount
	}
	if l.CPU != nil {
		limits[corev1.ResourceCPU] = l.CPU.DeepCopy()
	}
	if l.Memory != nil {
		limits[corev1.ResourceMemory] = l.Memory.DeepCopy()
	}
	return limits, wrong
}

// Amounts returns all limits. Where one is written in resources and beside
// it, the one in resources counts. The caller owns the map.
func (l *Limits) Amounts() corev1.ResourceList {
	if l == nil {
		return nil
	}
	all, _ := l.Beside()
	maps.Copy(all, l.Resources.DeepCopy())
	return all
}
