package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Conditions of a NodeClaim. Ready is true when Launched, Registered and
// Initialized are.
const (
	ClaimReady                = "Ready"
	ClaimLaunched             = "Launched"
	ClaimRegistered           = "Registered"
	ClaimInitialized          = "Initialized"
	ClaimConsolidatable       = "Consolidatable"
	ClaimDrifted              = "Drifted"
	ClaimDrained              = "Drained"
	ClaimVolumesDetached      = "VolumesDetached"
	ClaimInstanceTerminating  = "InstanceTerminating"
	ClaimConsistentStateFound = "ConsistentStateFound"
	ClaimDisruptionReason     = "DisruptionReason"
)

// Reasons of Launched, Registered and Initialized while they are not true.
const (
	ReasonLaunchFailed              = "LaunchFailed"
	ReasonRequestLimitExceeded      = "RequestLimitExceeded" // the cloud asks to wait
	ReasonInternalError             = "InternalError"        // the cloud failed by itself
	ReasonNotAdopted                = "NotAdopted"           // Daemok's own: the instance that the claim is to adopt is not its own yet
	ReasonNodeNotFound              = "NodeNotFound"
	ReasonAwaitingSpreadDomains     = "AwaitingSpreadDomains"
	ReasonRegistrationHookPending   = "RegistrationHookPending"
	ReasonMultipleNodesFound        = "MultipleNodesFound"
	ReasonInstanceMismatch          = "InstanceMismatch"
	ReasonNodeNotReady              = "NodeNotReady"
	ReasonStartupTaintsExist        = "StartupTaintsExist"
	ReasonKnownEphemeralTaintsExist = "KnownEphemeralTaintsExist"
	ReasonResourceNotRegistered     = "ResourceNotRegistered"
	ReasonDRAPoolsNotPublished      = "DRADriverPoolsNotPublished"
)

// Reasons of Drifted when it is true.
const (
	ReasonNodePoolDrifted          = "NodePoolDrifted"
	ReasonRequirementsDrifted      = "RequirementsDrifted"
	ReasonInstanceTypeNotFound     = "InstanceTypeNotFound"
	ReasonNodeClassDrift           = "NodeClassDrift"
	ReasonAMIDrift                 = "AMIDrift"
	ReasonSubnetDrift              = "SubnetDrift"
	ReasonSecurityGroupDrift       = "SecurityGroupDrift"
	ReasonCapacityReservationDrift = "CapacityReservationDrift"
	ReasonPlacementGroupDrift      = "PlacementGroupDrift"
	ReasonDaemonSetUnplaced        = "DaemonSetUnplaced"   // Daemok's own
	ReasonVoluntaryDisruption      = "VoluntaryDisruption" // Daemok's own: a user of a Provisioner says so on the node
)

// Reasons of the conditions of a leaving claim, and of one whose node is not
// as it was launched.
const (
	ReasonDraining                      = "Draining"
	ReasonAwaitingVolumeDetachment      = "AwaitingVolumeDetachment"
	ReasonTerminationGracePeriodElapsed = "TerminationGracePeriodElapsed"
	ReasonConsistencyCheckFailed        = "ConsistencyCheckFailed"
)

// NodeClaimStatus is what was last observed of a claim's instance and node.
type NodeClaimStatus struct {
	// NodeName is the name of the instance's node.
	//
	// +optional
	NodeName string `json:"nodeName,omitempty"`

	// ProviderID is the ID of the instance in the cloud.
	//
	// +optional
	ProviderID string `json:"providerID,omitempty"`

	// ImageID is the image that the instance runs.
	//
	// +optional
	ImageID string `json:"imageID,omitempty"`

	// Capacity is what the instance has.
	//
	// +optional
	Capacity corev1.ResourceList `json:"capacity,omitempty"`

	// Allocatable is the part of it that pods can use.
	//
	// +optional
	Allocatable corev1.ResourceList `json:"allocatable,omitempty"`

	// Conditions say how far the claim has progressed. A reason may be empty here.
	//
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`

	// LastPodEventTime is when a pod was last bound to the node, completed on it or began to
	// terminate.
	//
	// +optional
	LastPodEventTime metav1.Time `json:"lastPodEventTime,omitzero"`
}

// GetConditions returns the claim's conditions; the slice is the claim's own.
func (c *NodeClaim) GetConditions() []metav1.Condition { return c.Status.Conditions }

// SetConditions replaces the claim's conditions.
func (c *NodeClaim) SetConditions(conditions []metav1.Condition) { c.Status.Conditions = conditions }

// ReadyDependsOn names the conditions that must be true for Ready.
func (*NodeClaim) ReadyDependsOn() []string {
	return []string{ClaimLaunched, ClaimRegistered, ClaimInitialized}
}
