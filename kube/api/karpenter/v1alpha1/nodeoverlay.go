package v1alpha1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeOverlay corrects the price or the capacity of the offerings that its requirements select.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=nodeoverlays,scope=Cluster,categories=karpenter,shortName=overlays
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status",description="Whether the overlay is used"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Weight",type="integer",JSONPath=".spec.weight",priority=1,description="Overlays with a higher weight win"
type NodeOverlay struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   NodeOverlaySpec   `json:"spec"`
	Status NodeOverlayStatus `json:"status,omitempty"`
}

// NodeOverlayList is a list of overlays.
//
// +kubebuilder:object:root=true
type NodeOverlayList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []NodeOverlay `json:"items"`
}

// NodeOverlaySpec is which offerings are corrected and how.
//
// +kubebuilder:validation:XValidation:rule="!has(self.price) || !has(self.priceAdjustment)",message="price and priceAdjustment may not be set together"
type NodeOverlaySpec struct {
	// Requirements select the offerings.
	//
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:rule="self.all(x, !(x.operator in ['In', 'NotIn']) || (has(x.values) && x.values.size() > 0))",message="a requirement with operator In or NotIn must have at least one value"
	// +kubebuilder:validation:XValidation:rule="self.all(x, !(x.operator in ['Gt', 'Lt', 'Gte', 'Lte']) || (has(x.values) && x.values.size() == 1 && x.values[0].size() > 0 && x.values[0].size() <= 18 && [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17].all(i, i >= x.values[0].size() || (x.values[0].charAt(i) >= '0' && x.values[0].charAt(i) <= '9'))))",message="a requirement with operator Gt, Lt, Gte or Lte must have exactly one value, an integer of zero or more"
	// +listType=atomic
	Requirements []Requirement `json:"requirements"`

	// PriceAdjustment changes the price, by a signed amount of dollars per hour, such as "-0.05",
	// or by a signed percentage, such as "+10%".
	//
	// +kubebuilder:validation:Pattern=`^(([+-]\d+(\.\d+)?)|(\+\d+(\.\d+)?%)|(-\d{1,2}(\.\d+)?%)|(-100(\.0+)?%))$`
	// +optional
	PriceAdjustment *string `json:"priceAdjustment,omitempty"`

	// Price replaces the price, in dollars per hour.
	//
	// +kubebuilder:validation:Pattern=`^\d+(\.\d+)?$`
	// +optional
	Price *string `json:"price,omitempty"`

	// Capacity adds or replaces extended resources.
	//
	// +kubebuilder:validation:XValidation:rule="self.all(k, !(k in ['cpu', 'memory', 'ephemeral-storage', 'pods']))",message="capacity may not name cpu, memory, ephemeral-storage or pods, only extended resources"
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`

	// Weight orders overlays of the same offering: the highest wins, and a missing one counts as
	// zero.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=10000
	// +optional
	Weight *int32 `json:"weight,omitempty"`
}

// Requirement limits the values one label of an offering may have.
type Requirement struct {
	// Key is the label that the requirement is about.
	//
	// +kubebuilder:validation:MaxLength=316
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`
	// +kubebuilder:validation:XValidation:rule="!self.find('^[^/]+').endsWith('karpenter.sh') || self in ['karpenter.sh/capacity-type', 'karpenter.sh/nodepool']",message="label domain \"karpenter.sh\" is restricted, only karpenter.sh/capacity-type and karpenter.sh/nodepool may be used"
	// +kubebuilder:validation:XValidation:rule="self != 'kubernetes.io/hostname'",message="label \"kubernetes.io/hostname\" is restricted, an instance has no host name before it is launched"
	// +kubebuilder:validation:XValidation:rule="!self.find('^[^/]+').endsWith('karpenter.k8s.aws') || self in ['karpenter.k8s.aws/ec2nodeclass', 'karpenter.k8s.aws/instance-accelerator-count', 'karpenter.k8s.aws/instance-accelerator-manufacturer', 'karpenter.k8s.aws/instance-accelerator-name', 'karpenter.k8s.aws/instance-capability-flex', 'karpenter.k8s.aws/instance-category', 'karpenter.k8s.aws/instance-cpu', 'karpenter.k8s.aws/instance-cpu-manufacturer', 'karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz', 'karpenter.k8s.aws/instance-ebs-bandwidth', 'karpenter.k8s.aws/instance-encryption-in-transit-supported', 'karpenter.k8s.aws/instance-family', 'karpenter.k8s.aws/instance-generation', 'karpenter.k8s.aws/instance-gpu-count', 'karpenter.k8s.aws/instance-gpu-manufacturer', 'karpenter.k8s.aws/instance-gpu-memory', 'karpenter.k8s.aws/instance-gpu-name', 'karpenter.k8s.aws/instance-hypervisor', 'karpenter.k8s.aws/instance-local-nvme', 'karpenter.k8s.aws/instance-memory', 'karpenter.k8s.aws/instance-network-bandwidth', 'karpenter.k8s.aws/instance-size', 'karpenter.k8s.aws/nitro-sandbox']",message="label domain \"karpenter.k8s.aws\" is restricted to the labels that describe instance types"
	Key string `json:"key"`

	// Operator relates the label to the values.
	//
	// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist;Gt;Lt;Gte;Lte
	Operator corev1.NodeSelectorOperator `json:"operator"`

	// Values are what the operator compares with: at least one for In and NotIn,
	// exactly one integer for Gt, Lt, Gte and Lte, none for the others.
	//
	// +listType=atomic
	// +optional
	Values []string `json:"values,omitempty"`
}

// Conditions of a NodeOverlay. Ready is true when ValidationSucceeded is.
const (
	OverlayReady               = "Ready"
	OverlayValidationSucceeded = "ValidationSucceeded"
)

// Reasons of ValidationSucceeded when it is false.
const (
	ReasonRuntimeValidation = "RuntimeValidation"
	ReasonConflict          = "Conflict"
)

// NodeOverlayStatus is what was last observed of an overlay.
type NodeOverlayStatus struct {
	// Conditions say whether the overlay is used, and if not, why.
	//
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// GetConditions returns the overlay's conditions; the slice is its own.
func (o *NodeOverlay) GetConditions() []metav1.Condition { return o.Status.Conditions }

// SetConditions replaces the overlay's conditions.
func (o *NodeOverlay) SetConditions(c []metav1.Condition) { o.Status.Conditions = c }

// ReadyDependsOn names the conditions that must be true for Ready.
func (*NodeOverlay) ReadyDependsOn() []string { return []string{OverlayValidationSucceeded} }
