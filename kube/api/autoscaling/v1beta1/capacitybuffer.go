package v1beta1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// StrategyActiveCapacity is the provisioning strategy Daemok serves; buffers
// with any other are not Daemok's.
const StrategyActiveCapacity = "buffer.x-k8s.io/active-capacity"

// CapacityBuffer keeps capacity free for a number of pods.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=capacitybuffers,scope=Namespaced,categories=autoscaling,shortName=cb
// +kubebuilder:subresource:status
// +kubebuilder:storageversion
// +kubebuilder:printcolumn:name="Strategy",type="string",JSONPath=".spec.provisioningStrategy",description="How the room is kept"
// +kubebuilder:printcolumn:name="PodTemplate",type="string",JSONPath=".status.podTemplateRef.name",description="Template of the pods room is kept for"
// +kubebuilder:printcolumn:name="Replicas",type="integer",JSONPath=".status.replicas",description="Number of pods room is kept for"
// +kubebuilder:printcolumn:name="ConditionsType",type="string",JSONPath=".status.conditions[*].type",description="Conditions"
// +kubebuilder:printcolumn:name="ConditionsStatus",type="string",JSONPath=".status.conditions[*].status",description="Their status"
// +kubebuilder:printcolumn:name="ConditionsReason",type="string",JSONPath=".status.conditions[*].reason",description="Their reasons"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type CapacityBuffer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   CapacityBufferSpec   `json:"spec"`
	Status CapacityBufferStatus `json:"status,omitempty"`
}

// CapacityBufferList is a list of buffers.
//
// +kubebuilder:object:root=true
type CapacityBufferList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []CapacityBuffer `json:"items"`
}

// CapacityBufferSpec is which pods room is kept for, and for how many.
//
// +kubebuilder:validation:XValidation:rule="!has(self.podTemplateRef) || has(self.replicas) || has(self.limits)",message="replicas or limits must be set beside podTemplateRef"
// +kubebuilder:validation:XValidation:rule="!has(self.podTemplateRef) || !has(self.scalableRef)",message="podTemplateRef and scalableRef may not be set together"
type CapacityBufferSpec struct {
	// ProvisioningStrategy says how the capacity is kept.
	//
	// +kubebuilder:default="buffer.x-k8s.io/active-capacity"
	// +optional
	ProvisioningStrategy *string `json:"provisioningStrategy,omitempty"`

	// PodTemplateRef names a PodTemplate of the same namespace.
	//
	// +optional
	PodTemplateRef *LocalObjectRef `json:"podTemplateRef,omitempty"`

	// ScalableRef names a Deployment, StatefulSet or ReplicaSet of the same namespace; capacity is
	// kept for its pods.
	//
	// +optional
	ScalableRef *ScalableRef `json:"scalableRef,omitempty"`

	// Replicas is the number of pods that capacity is kept for.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// Percentage is that number as a percentage of the workload's replicas, rounded up.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Percentage *int32 `json:"percentage,omitempty"`

	// Limits are the maximum that the pods may request together.
	//
	// +optional
	Limits corev1.ResourceList `json:"limits,omitempty"`
}

// LocalObjectRef names an object of the same namespace.
type LocalObjectRef struct {
	// Name of the object.
	//
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
}

// ScalableRef names a workload of the same namespace.
type ScalableRef struct {
	// APIGroup of the workload; it must be apps.
	//
	// +optional
	APIGroup string `json:"apiGroup,omitempty"`

	// Kind of the workload.
	//
	// +kubebuilder:validation:MinLength=1
	Kind string `json:"kind"`

	// Name of the workload.
	//
	// +kubebuilder:validation:MinLength=1
	Name string `json:"name"`
}

// Conditions of a CapacityBuffer. It has no Ready.
const (
	BufferReadyForProvisioning = "ReadyForProvisioning"
	BufferProvisioning         = "Provisioning"
	BufferLimitedByQuotas      = "LimitedByQuotas"
)

// Reasons of a CapacityBuffer's conditions.
const (
	ReasonResolved                = "Resolved"
	ReasonScalableRefNotFound     = "ScalableRefNotFound"
	ReasonPodTemplateNotFound     = "PodTemplateNotFound"
	ReasonResolutionFailed        = "ResolutionFailed"
	ReasonFitsExistingCapacity    = "FitsExistingCapacity"
	ReasonRequiresNewCapacity     = "RequiresNewCapacity"
	ReasonNotReadyForProvisioning = "NotReadyForProvisioning"
	ReasonBufferEmpty             = "BufferEmpty"
)

// CapacityBufferStatus is what was last observed of a buffer.
type CapacityBufferStatus struct {
	// PodTemplateRef names the template of the buffer's pods.
	//
	// +optional
	PodTemplateRef *LocalObjectRef `json:"podTemplateRef,omitempty"`

	// PodTemplateGeneration is the generation of the template last seen.
	//
	// +optional
	PodTemplateGeneration *int64 `json:"podTemplateGeneration,omitempty"`

	// Replicas is the number of pods that capacity is kept for.
	//
	// +optional
	Replicas *int32 `json:"replicas,omitempty"`

	// ProvisioningStrategy is the strategy last seen.
	//
	// +optional
	ProvisioningStrategy *string `json:"provisioningStrategy,omitempty"`

	// Conditions say whether the capacity exists.
	//
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// GetConditions returns the buffer's conditions; the slice is its own.
func (b *CapacityBuffer) GetConditions() []metav1.Condition { return b.Status.Conditions }

// SetConditions replaces the buffer's conditions.
func (b *CapacityBuffer) SetConditions(c []metav1.Condition) { b.Status.Conditions = c }

// ReadyDependsOn names the conditions that must be true before the buffer can
// be provisioned for.
func (*CapacityBuffer) ReadyDependsOn() []string { return []string{BufferReadyForProvisioning} }
