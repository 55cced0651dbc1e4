package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// Conditions of an EC2NodeClass.
const (
	ClassReady                     = "Ready"
	ClassSubnetsReady              = "SubnetsReady"
	ClassSecurityGroupsReady       = "SecurityGroupsReady"
	ClassAMIsReady                 = "AMIsReady"
	ClassInstanceProfileReady      = "InstanceProfileReady"
	ClassCapacityReservationsReady = "CapacityReservationsReady"
	ClassPlacementGroupReady       = "PlacementGroupReady"
	ClassValidationSucceeded       = "ValidationSucceeded"
)

// Conditions of an EC2NodeClass that warn: they are there, and true, only while
// something is doubtful, and keep no class from being ready.
const (
	ClassGroupsOwnedTwice = "daemok.sh/SecurityGroupsOwnedTwice"
	ClassSubnetsFull      = "daemok.sh/SubnetsFull"
	ClassKubeletSkew      = "daemok.sh/KubeletSkew"
	ClassPodDensity       = "daemok.sh/PodDensity"
	ClassFamilyReplaced   = "daemok.sh/ImageFamilyReplaced" // of AWSNodeTemplates alone

	ClassLaunchTemplateChanged = "daemok.sh/LaunchTemplateChanged" // nodes are there that another build launched in another form
)

// Reasons of the conditions that warn.
const (
	ReasonSeveralOwnedGroups = "SeveralOwnedGroups"
	ReasonNoFreeAddresses    = "NoFreeAddresses"
	ReasonKubeletBehind      = "KubeletBehind"
	ReasonKubeletUnsupported = "KubeletUnsupported"
	ReasonPodDensityMismatch = "PodDensityMismatch"
	ReasonFamilyEnded        = "ImageFamilyEnded"
	ReasonRenderedOtherwise  = "RenderedOtherwise"
	ReasonNotCompared        = "NotCompared"
)

// Reasons why a part of a class was not found.
const (
	ReasonSubnetsNotFound                = "SubnetsNotFound"
	ReasonSecurityGroupsNotFound         = "SecurityGroupsNotFound"
	ReasonAMINotFound                    = "AMINotFound"
	ReasonUnsupportedAlias               = "UnsupportedAlias"
	ReasonAMIFamilyMismatch              = "AMIFamilyMismatch"
	ReasonPlacementGroupNotFound         = "PlacementGroupNotFound"
	ReasonPlacementGroupResolutionFailed = "PlacementGroupResolutionFailed"
)

// Reasons of ValidationSucceeded. ReasonDryRunDisabled comes with true, the
// others with false.
const (
	ReasonDependenciesNotReady                = "DependenciesNotReady"
	ReasonTagValidationFailed                 = "TagValidationFailed"
	ReasonCreateLaunchTemplateAuthCheckFailed = "CreateLaunchTemplateAuthCheckFailed"
	ReasonCreateFleetAuthCheckFailed          = "CreateFleetAuthCheckFailed"
	ReasonRunInstancesAuthCheckFailed         = "RunInstancesAuthCheckFailed"
	ReasonInstanceProfileNotFound             = "InstanceProfileNotFound"
	ReasonInvalidKubeletConfiguration         = "InvalidKubeletConfiguration"
	ReasonKubeletExpressionInvalid            = "KubeletExpressionInvalid"
	ReasonKubeletExpressionEvaluationFailed   = "KubeletExpressionEvaluationFailed"
	ReasonKubeletExpressionsDisabled          = "KubeletExpressionsDisabled"
	ReasonUnsupportedKubeletConfiguration     = "UnsupportedKubeletConfiguration"
	ReasonUserDataSizeLimitExceeded           = "UserDataSizeLimitExceeded"
	ReasonClusterCIDRResolutionFailed         = "ClusterCIDRResolutionFailed"
	ReasonInvalidUserData                     = "InvalidUserData"
	ReasonDryRunDisabled                      = "DryRunDisabled"
)

// EC2NodeClassStatus is what was last found on AWS for a class.
type EC2NodeClassStatus struct {
	// Subnets that the terms select, the one with the most free addresses first.
	//
	// +optional
	Subnets []Subnet `json:"subnets,omitempty"`

	// SecurityGroups that the terms select.
	//
	// +optional
	SecurityGroups []SecurityGroup `json:"securityGroups,omitempty"`

	// CapacityReservations that the terms select.
	//
	// +optional
	CapacityReservations []CapacityReservation `json:"capacityReservations,omitempty"`

	// AMIs that the terms select, the newest first.
	//
	// +optional
	AMIs []AMI `json:"amis,omitempty"`

	// InstanceProfile of the nodes.
	//
	// +optional
	InstanceProfile string `json:"instanceProfile,omitempty"`

	// Conditions say whether the class may be used, and if not, why.
	//
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// Subnet is a subnet that was found.
type Subnet struct {
	// ID of the subnet.
	ID string `json:"id"`
	// Zone of the subnet by name.
	Zone string `json:"zone"`
	// ZoneID is the ID of the zone, which is the same in all accounts.
	//
	// +optional
	ZoneID string `json:"zoneID,omitempty"`
}

// SecurityGroup is a security group that was found.
type SecurityGroup struct {
	// ID of the group.
	ID string `json:"id"`
	// Name of the group.
	//
	// +optional
	Name string `json:"name,omitempty"`
}

// AMI is an image that was found.
type AMI struct {
	// ID of the image.
	ID string `json:"id"`
	// Name of the image.
	//
	// +optional
	Name string `json:"name,omitempty"`
	// Deprecated says that the owner of the image has deprecated it.
	//
	// +optional
	Deprecated bool `json:"deprecated,omitempty"`
	// Requirements that an instance type must satisfy to run the image.
	Requirements []corev1.NodeSelectorRequirement `json:"requirements"`
}

// CapacityReservation is a capacity reservation that was found.
type CapacityReservation struct {
	// AvailabilityZone of the reservation.
	AvailabilityZone string `json:"availabilityZone"`
	// EndTime is when the reservation ends, if it does.
	//
	// +optional
	EndTime *metav1.Time `json:"endTime,omitempty"`
	// ID of the reservation.
	//
	// +kubebuilder:validation:Pattern="^cr-[0-9a-z]+$"
	ID string `json:"id"`
	// InstanceMatchCriteria says which instances may use the reservation: all that match, or only
	// those that name it.
	//
	// +kubebuilder:validation:Enum=open;targeted
	InstanceMatchCriteria string `json:"instanceMatchCriteria"`
	// InstanceType that the reservation is for.
	InstanceType string `json:"instanceType"`
	// OwnerID is the account that the reservation belongs to.
	//
	// +kubebuilder:validation:Pattern="^[0-9]{12}$"
	OwnerID string `json:"ownerID"`
	// ReservationType distinguishes ordinary reservations from capacity blocks.
	//
	// +kubebuilder:default=default
	// +kubebuilder:validation:Enum=default;capacity-block
	ReservationType string `json:"reservationType"`
	// Interruptible says that the owner may reclaim the capacity.
	//
	// +optional
	Interruptible bool `json:"interruptible,omitempty"`
	// State distinguishes active reservations from those that are about to end.
	//
	// +kubebuilder:default=active
	// +kubebuilder:validation:Enum=active;expiring
	State string `json:"state"`
}

// GetConditions returns the class's conditions; the slice is its own.
func (c *EC2NodeClass) GetConditions() []metav1.Condition { return c.Status.Conditions }

// SetConditions replaces the class's conditions.
func (c *EC2NodeClass) SetConditions(conditions []metav1.Condition) { c.Status.Conditions = conditions }

// ReadyDependsOn names the conditions that must be true for Ready. The
// placement group counts if the class names one, and capacity reservations
// if they are reported, since that depends on a feature gate.
func (c *EC2NodeClass) ReadyDependsOn() []string {
	kinds := []string{
		ClassAMIsReady, ClassSubnetsReady, ClassSecurityGroupsReady, ClassInstanceProfileReady, ClassValidationSucceeded,
	}
	if c.Spec.PlacementGroupSelector != nil {
		kinds = append(kinds, ClassPlacementGroupReady)
	}
	for _, condition := range c.Status.Conditions {
		if condition.Type == ClassCapacityReservationsReady {
			kinds = append(kinds, ClassCapacityReservationsReady)
		}
	}
	return kinds
}
