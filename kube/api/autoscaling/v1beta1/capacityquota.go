package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// CapacityQuota limits what nodes may come to together, of whichever NodePools and of none.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=capacityquotas,scope=Cluster,categories=autoscaling,shortName=cq
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Limits",type="string",JSONPath=".spec.limits.resources",description="What the nodes may have together"
// +kubebuilder:printcolumn:name="Used",type="string",JSONPath=".status.used.resources",description="What they have"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type CapacityQuota struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   CapacityQuotaSpec   `json:"spec"`
	Status CapacityQuotaStatus `json:"status,omitempty"`
}

// CapacityQuotaList is a list of quotas.
//
// +kubebuilder:object:root=true
type CapacityQuotaList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []CapacityQuota `json:"items"`
}

// CapacityQuotaSpec is which nodes count, and how much they may have.
type CapacityQuotaSpec struct {
	// Selector selects nodes by their labels. Without it all nodes count.
	//
	// +optional
	Selector *metav1.LabelSelector `json:"selector,omitempty"`

	// Limits are the maximum that the nodes may have together.
	Limits CapacityQuotaLimits `json:"limits"`
}

// CapacityQuotaLimits are the maximum that nodes may have together.
type CapacityQuotaLimits struct {
	// Resources are amounts of capacity by their names: cpu, memory, extended resources, and nodes for their number.
	// Amounts are integers.
	//
	// +kubebuilder:validation:MaxProperties=20
	Resources map[corev1.ResourceName]resource.Quantity `json:"resources"`
}

// CapacityQuotaStatus is what was last observed of a quota.
type CapacityQuotaStatus struct {
	// Used is what the nodes have that the quota selects.
	//
	// +optional
	Used *CapacityQuotaUsed `json:"used,omitempty"`
}

// CapacityQuotaUsed is what nodes have.
type CapacityQuotaUsed struct {
	// Resources are the amounts of those resources that are limited, with instances that are being launched.
	//
	// +optional
	Resources corev1.ResourceList `json:"resources,omitempty"`
}
