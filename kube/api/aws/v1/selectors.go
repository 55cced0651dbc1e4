package v1

// SubnetSelectorTerm selects subnets: by all of its tags, or by id.
type SubnetSelectorTerm struct {
	// Tags that the subnet must have. The value * means any; values may contain EC2's wildcards.
	//
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != '' && self[k] != '')",message="empty keys or values in tags are not supported, write * for any value"
	// +kubebuilder:validation:MaxProperties=20
	// +optional
	Tags map[string]string `json:"tags,omitzero"`

	// ID of the subnet.
	//
	// +kubebuilder:validation:Pattern="subnet-[0-9a-z]+"
	// +optional
	ID string `json:"id,omitempty"`
}

// SecurityGroupSelectorTerm selects security groups: by all of its tags, by
// id, or by name.
type SecurityGroupSelectorTerm struct {
	// Tags that the group must have. The value * means any; values may contain EC2's wildcards.
	//
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != '' && self[k] != '')",message="empty keys or values in tags are not supported, write * for any value"
	// +kubebuilder:validation:MaxProperties=20
	// +optional
	Tags map[string]string `json:"tags,omitzero"`

	// ID of the group.
	//
	// +kubebuilder:validation:Pattern="sg-[0-9a-z]+"
	// +optional
	ID string `json:"id,omitempty"`

	// Name of the group: its group name, not its tag Name.
	//
	// +optional
	Name string `json:"name,omitempty"`
}

// CapacityReservationSelectorTerm selects capacity reservations: by id, or by
// all of the other fields.
type CapacityReservationSelectorTerm struct {
	// Tags that the reservation must have. The value * means any; values may contain EC2's
	// wildcards.
	//
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != '' && self[k] != '')",message="empty keys or values in tags are not supported, write * for any value"
	// +kubebuilder:validation:MaxProperties=20
	// +optional
	Tags map[string]string `json:"tags,omitzero"`

	// ID of the reservation.
	//
	// +kubebuilder:validation:Pattern="^cr-[0-9a-z]+$"
	// +optional
	ID string `json:"id,omitempty"`

	// OwnerID is the account that the reservation belongs to.
	//
	// +kubebuilder:validation:Pattern="^[0-9]{12}$"
	// +optional
	OwnerID string `json:"ownerID,omitempty"`

	// InstanceMatchCriteria says which instances may use the reservation: all that match, or only
	// those that name it.
	//
	// +kubebuilder:validation:Enum=open;targeted
	// +optional
	InstanceMatchCriteria string `json:"instanceMatchCriteria,omitempty"`
}

// PlacementGroupSelector names a placement group, by name or by id.
//
// +kubebuilder:validation:XValidation:rule="has(self.name) != has(self.id)",message="exactly one of name and id must be set"
type PlacementGroupSelector struct {
	// Name of the placement group.
	//
	// +kubebuilder:validation:MinLength=1
	// +optional
	Name string `json:"name,omitempty"`

	// ID of the placement group.
	//
	// +kubebuilder:validation:Pattern="^pg-[0-9a-z]+$"
	// +optional
	ID string `json:"id,omitempty"`
}

// AMISelectorTerm selects images: by alias, by id, by SSM parameter, or by
// all of tags, name and owner.
type AMISelectorTerm struct {
	// Alias is a family and a version of the EKS-optimised images, such as
	// "al2023@latest".
	//
	// +kubebuilder:validation:XValidation:rule="self.matches('^[a-zA-Z0-9]+@.+$')",message="alias must be family@version, such as al2023@latest"
	// +kubebuilder:validation:XValidation:rule="self.find('^[^@]+') in ['al2', 'al2023', 'bottlerocket', 'windows2019', 'windows2022', 'windows2025']",message="alias must name one of the families al2, al2023, bottlerocket, windows2019, windows2022 and windows2025"
	// +kubebuilder:validation:XValidation:rule="!self.startsWith('windows') || self.endsWith('@latest')",message="an alias of a windows family must have the version latest"
	// +kubebuilder:validation:MaxLength=30
	// +optional
	Alias string `json:"alias,omitempty"`

	// Tags that the image must have. The value * means any; values may contain EC2's wildcards.
	//
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != '' && self[k] != '')",message="empty keys or values in tags are not supported, write * for any value"
	// +kubebuilder:validation:MaxProperties=20
	// +optional
	Tags map[string]string `json:"tags,omitzero"`

	// ID of the image.
	//
	// +kubebuilder:validation:Pattern="ami-[0-9a-z]+"
	// +optional
	ID string `json:"id,omitempty"`

	// Name of the image; it may contain EC2's wildcards.
	//
	// +optional
	Name string `json:"name,omitempty"`

	// Owner of the image: an account, or one of self, amazon, aws-marketplace. With only tags or a
	// name, it defaults to self and amazon.
	//
	// +optional
	Owner string `json:"owner,omitempty"`

	// SSMParameter is a parameter whose value is the ID of the image.
	//
	// +optional
	SSMParameter string `json:"ssmParameter,omitempty"`
}

// AMIFamily is the operating system of images, as far as setting a node up
// goes.
//
// +kubebuilder:validation:Enum=AL2;AL2023;Bottlerocket;Custom;Windows2019;Windows2022;Windows2025
type AMIFamily string

// The families.
const (
	FamilyAL2          AMIFamily = "AL2"
	FamilyAL2023       AMIFamily = "AL2023"
	FamilyBottlerocket AMIFamily = "Bottlerocket"
	FamilyCustom       AMIFamily = "Custom"
	FamilyWindows2019  AMIFamily = "Windows2019"
	FamilyWindows2022  AMIFamily = "Windows2022"
	FamilyWindows2025  AMIFamily = "Windows2025"
)
