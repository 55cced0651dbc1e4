package v1

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// VerticalPodAutoscaler sets what new pods of a workload request.
//
// +kubebuilder:object:root=true
type VerticalPodAutoscaler struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   Spec   `json:"spec"`
	Status Status `json:"status,omitempty"`
}

// VerticalPodAutoscalerList is a list of them.
//
// +kubebuilder:object:root=true
type VerticalPodAutoscalerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []VerticalPodAutoscaler `json:"items"`
}

// Spec is whose pods it is about, and what may be changed of them.
type Spec struct {
	TargetRef      *Target         `json:"targetRef,omitempty"`
	UpdatePolicy   *UpdatePolicy   `json:"updatePolicy,omitempty"`
	ResourcePolicy *ResourcePolicy `json:"resourcePolicy,omitempty"`
	StartupBoost   *StartupBoost   `json:"startupBoost,omitempty"`
}

// Target is the workload, such as a Deployment.
type Target struct {
	APIVersion string `json:"apiVersion,omitempty"`
	Kind       string `json:"kind"`
	Name       string `json:"name"`
}

// ModeOff is the mode, of a VerticalPodAutoscaler or a container, in which it recommends and changes nothing. In all
// others new pods get what is recommended.
const ModeOff = "Off"

// UpdatePolicy says when pods are changed.
type UpdatePolicy struct {
	UpdateMode string `json:"updateMode,omitempty"` // Off, Initial, Recreate, InPlaceOrRecreate or Auto; empty: as Recreate
}

// ResourcePolicy bounds what is recommended.
type ResourcePolicy struct {
	ContainerPolicies []ContainerPolicy `json:"containerPolicies,omitempty"`
}

// AllContainers is the name of the policy of containers that have none of their own.
const AllContainers = "*"

// RequestsOnly is the controlledValues of a policy that leaves limits as they are.
const RequestsOnly = "RequestsOnly"

// ContainerPolicy bounds what is recommended for a container.
type ContainerPolicy struct {
	ContainerName       string                 `json:"containerName,omitempty"`
	Mode                string                 `json:"mode,omitempty"` // Off or Auto; empty: Auto
	MinAllowed          corev1.ResourceList    `json:"minAllowed,omitempty"`
	MaxAllowed          corev1.ResourceList    `json:"maxAllowed,omitempty"`
	ControlledResources *[]corev1.ResourceName `json:"controlledResources,omitempty"` // nil: cpu and memory
	ControlledValues    string                 `json:"controlledValues,omitempty"`    // RequestsOnly, or empty
	StartupBoost        *StartupBoost          `json:"startupBoost,omitempty"`
}

// StartupBoost raises what containers request while they start.
type StartupBoost struct {
	CPU *Boost `json:"cpu,omitempty"`
}

// Kinds of a Boost.
const (
	BoostFactor   = "Factor"
	BoostQuantity = "Quantity"
)

// Boost is how much more cpu is requested.
type Boost struct {
	Type     string             `json:"type,omitempty"`     // Factor or Quantity
	Factor   *resource.Quantity `json:"factor,omitempty"`   // times what is recommended
	Quantity *resource.Quantity `json:"quantity,omitempty"` // beside what is recommended
}

// Status is what is recommended now.
type Status struct {
	Recommendation *Recommendation `json:"recommendation,omitempty"`
}

// Recommendation is what is recommended, by container.
type Recommendation struct {
	ContainerRecommendations []ContainerRecommendation `json:"containerRecommendations,omitempty"`
}

// ContainerRecommendation is what a container should request.
type ContainerRecommendation struct {
	ContainerName string              `json:"containerName,omitempty"`
	Target        corev1.ResourceList `json:"target,omitempty"`
}
