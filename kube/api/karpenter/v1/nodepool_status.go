package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Conditions of a NodePool. Ready is true when ValidationSucceeded and
// NodeClassReady are.
const (
	NodePoolReady               = "Ready"
	NodePoolValidationSucceeded = "ValidationSucceeded"
	NodePoolClassReady          = "NodeClassReady"
	NodePoolRegistrationHealthy = "NodeRegistrationHealthy"
	// NodePoolDrained is on pools that are being deleted, and says how far that is.
	NodePoolDrained = "Drained"
	// NodePoolNotInEffect is on pools with fields that have no effect, since a feature gate is off,
	// and names them. It keeps no pool from being ready.
	NodePoolNotInEffect = "daemok.sh/NotInEffect"
	// NodePoolDisruptionBlocked is on pools with nodes to disrupt and an obstacle that a user
	// has to remove. It is of Daemok alone.
	NodePoolDisruptionBlocked = "DisruptionBlocked"
)

// Reasons of a NodePool's conditions.
const (
	ReasonNodePoolValidationFailed  = "NodePoolValidationFailed"
	ReasonNodeClassNotFound         = "NodeClassNotFound"
	ReasonNodeClassTerminating      = "NodeClassTerminating"
	ReasonNodeClassReadinessUnknown = "NodeClassReadinessUnknown"
	ReasonRegistrationFailed        = "RegistrationFailed"
	ReasonNodesLeft                 = "NodesLeft" // nodes are being deleted, or are about to be
	ReasonNodesStay                 = "NodesStay" // none is deleted until a user acts or a budget opens
	ReasonAtLimit                   = "AtLimit"   // drifted nodes wait: limits do not allow their replacements beside them
	ReasonStateUnread               = "StateUnread"
	ReasonClockDiffers              = "ClockDiffers"
	ReasonOrphansHeld               = "OrphansHeld" // instances that lost their NodeClaims, so many at once that it was a mistake
)

// NodePoolStatus is what was last observed of a pool.
type NodePoolStatus struct {
	// Resources are what the pool's nodes have together, including the number of nodes.
	//
	// +optional
	Resources corev1.ResourceList `json:"resources,omitempty"`

	// Nodes is the number of the pool's nodes.
	//
	// +kubebuilder:default=0
	// +optional
	Nodes int64 `json:"nodes"`

	// NodeClassObservedGeneration is the generation of the class that was last
	// seen.
	//
	// +optional
	NodeClassObservedGeneration int64 `json:"nodeClassObservedGeneration,omitempty"`

	// Conditions say whether the pool may be used, and if not, why.
	//
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// GetConditions returns the pool's conditions; the slice is the pool's own.
func (p *NodePool) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions replaces the pool's conditions.
func (p *NodePool) SetConditions(c []metav1.Condition) { p.Status.Conditions = c }

// ReadyDependsOn names the conditions that must be true for Ready.
func (*NodePool) ReadyDependsOn() []string {
	return []string{NodePoolValidationSucceeded, NodePoolClassReady}
}

// IsStatic reports whether the pool keeps a fixed number of nodes.
func (p *NodePool) IsStatic() bool { return p.Spec.Replicas != nil }
