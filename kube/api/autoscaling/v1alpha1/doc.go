// Package v1alpha1 holds the resource CapacityBuffer of the group autoscaling.x-k8s.io as manifests for
// older autoscalers name it. Its fields are those of v1beta1, which is stored, so that an API server
// converts one into the other by itself.
//
// +kubebuilder:object:generate=true
// +groupName=autoscaling.x-k8s.io
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
)

// GroupVersion is the group and version of the kind in this package.
var GroupVersion = schema.GroupVersion{Group: api.GroupAutoscaling, Version: "v1alpha1"}

// AddToScheme makes the kind of this package known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &CapacityBuffer{}, &CapacityBufferList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}

// CapacityBuffer keeps capacity free for a number of pods.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=capacitybuffers,scope=Namespaced,categories=autoscaling,shortName=cb
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Strategy",type="string",JSONPath=".spec.provisioningStrategy"
// +kubebuilder:printcolumn:name="PodTemplate",type="string",JSONPath=".status.podTemplateRef.name"
// +kubebuilder:printcolumn:name="Replicas",type="integer",JSONPath=".status.replicas"
// +kubebuilder:printcolumn:name="ConditionsType",type="string",JSONPath=".status.conditions[*].type"
// +kubebuilder:printcolumn:name="ConditionsStatus",type="string",JSONPath=".status.conditions[*].status"
// +kubebuilder:printcolumn:name="ConditionsReason",type="string",JSONPath=".status.conditions[*].reason"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
type CapacityBuffer struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   v1beta1.CapacityBufferSpec   `json:"spec"`
	Status v1beta1.CapacityBufferStatus `json:"status,omitempty"`
}

// CapacityBufferList is a list of buffers.
//
// +kubebuilder:object:root=true
type CapacityBufferList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []CapacityBuffer `json:"items"`
}

// Stored is the buffer as the version that is stored.
func (b *CapacityBuffer) Stored() *v1beta1.CapacityBuffer {
	out := &v1beta1.CapacityBuffer{TypeMeta: b.TypeMeta, ObjectMeta: b.ObjectMeta, Spec: b.Spec, Status: b.Status}
	out.SetGroupVersionKind(v1beta1.GroupVersion.WithKind("CapacityBuffer"))
	return out
}
