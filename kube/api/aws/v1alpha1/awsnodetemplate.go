package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// AWSNodeTemplate holds a user's AWS settings for nodes of Provisioners.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=awsnodetemplates,scope=Cluster,categories=karpenter
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status",priority=1,description="Whether the template may be used"
// +kubebuilder:printcolumn:name="Family",type="string",JSONPath=".spec.amiFamily",priority=1,description="Operating system of the nodes; AL2 where it is not said"
type AWSNodeTemplate struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   AWSNodeTemplateSpec   `json:"spec"`
	Status AWSNodeTemplateStatus `json:"status,omitempty"`
}

// AWSNodeTemplateList is a list of templates.
//
// +kubebuilder:object:root=true
type AWSNodeTemplateList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []AWSNodeTemplate `json:"items"`
}

// AWSNodeTemplateSpec is how nodes on AWS are launched.
//
// +kubebuilder:validation:XValidation:rule="!has(self.launchTemplate) || !has(self.userData)",message="userData may not be set beside launchTemplate, put it into the launch template or remove launchTemplate"
// +kubebuilder:validation:XValidation:rule="!has(self.launchTemplate) || !has(self.amiSelector)",message="amiSelector may not be set beside launchTemplate, name the image in the launch template or remove launchTemplate"
// +kubebuilder:validation:XValidation:rule="!has(self.amiFamily) || self.amiFamily != 'Custom' || has(self.amiSelector)",message="amiFamily Custom needs an amiSelector, it has no images of its own"
type AWSNodeTemplateSpec struct {
	AWS `json:",inline"`

	// UserData is the user data of the nodes: a shell script or MIME parts for AL2 and Ubuntu,
	// TOML for Bottlerocket, and any text for Custom. Except for Custom, Daemok merges its own
	// settings into it.
	//
	// +optional
	UserData *string `json:"userData,omitempty"`

	// AMISelector selects the images by tags, and by the keys aws-ids, aws::ids, aws::name and
	// aws::owners. Without it, the images are those of the family. Tags of an image that are
	// labels of instances limit the instances that it is used for.
	//
	// +kubebuilder:validation:XValidation:rule="!('aws-ids' in self) || string(self['aws-ids']).matches('^ami-[0-9a-z]+( *, *ami-[0-9a-z]+)*$')",message="aws-ids must be ids of images with commas between, such as ami-0123456789abcdef0"
	// +kubebuilder:validation:XValidation:rule="!('aws::ids' in self) || string(self['aws::ids']).matches('^ami-[0-9a-z]+( *, *ami-[0-9a-z]+)*$')",message="aws::ids must be ids of images with commas between, such as ami-0123456789abcdef0"
	// +optional
	AMISelector Selector `json:"amiSelector,omitzero"`

	// DetailedMonitoring enables CloudWatch's detailed monitoring.
	//
	// +optional
	DetailedMonitoring *bool `json:"detailedMonitoring,omitempty"`
}

// AWS are the settings that templates and the inline block of a Provisioner
// have both.
//
// +kubebuilder:validation:XValidation:rule="has(self.securityGroupSelector) || has(self.launchTemplate)",message="securityGroupSelector must be set, unless launchTemplate names the security groups"
// +kubebuilder:validation:XValidation:rule="!has(self.launchTemplate) || !has(self.securityGroupSelector)",message="securityGroupSelector may not be set beside launchTemplate, name the security groups in the launch template or remove launchTemplate"
// +kubebuilder:validation:XValidation:rule="!has(self.launchTemplate) || !has(self.metadataOptions)",message="metadataOptions may not be set beside launchTemplate, put them into the launch template or remove launchTemplate"
// +kubebuilder:validation:XValidation:rule="!has(self.launchTemplate) || !has(self.amiFamily)",message="amiFamily may not be set beside launchTemplate, name the image in the launch template or remove launchTemplate"
// +kubebuilder:validation:XValidation:rule="!has(self.launchTemplate) || !has(self.instanceProfile)",message="instanceProfile may not be set beside launchTemplate, name it in the launch template or remove launchTemplate"
// +kubebuilder:validation:XValidation:rule="!has(self.launchTemplate) || !has(self.blockDeviceMappings)",message="blockDeviceMappings may not be set beside launchTemplate, put them into the launch template or remove launchTemplate"
type AWS struct {
	// SubnetSelector selects the subnets by tags, and by the keys aws-ids and
	// aws::ids.
	//
	// +kubebuilder:validation:XValidation:rule="!('aws-ids' in self) || string(self['aws-ids']).matches('^subnet-[0-9a-z]+( *, *subnet-[0-9a-z]+)*$')",message="aws-ids must be ids of subnets with commas between, such as subnet-0123456789abcdef0"
	// +kubebuilder:validation:XValidation:rule="!('aws::ids' in self) || string(self['aws::ids']).matches('^subnet-[0-9a-z]+( *, *subnet-[0-9a-z]+)*$')",message="aws::ids must be ids of subnets with commas between, such as subnet-0123456789abcdef0"
	SubnetSelector Selector `json:"subnetSelector"`

	// SecurityGroupSelector selects the security groups by tags, and by the keys
	// aws-ids and aws::ids.
	//
	// +kubebuilder:validation:XValidation:rule="!('aws-ids' in self) || string(self['aws-ids']).matches('^sg-[0-9a-z]+( *, *sg-[0-9a-z]+)*$')",message="aws-ids must be ids of security groups with commas between, such as sg-0123456789abcdef0"
	// +kubebuilder:validation:XValidation:rule="!('aws::ids' in self) || string(self['aws::ids']).matches('^sg-[0-9a-z]+( *, *sg-[0-9a-z]+)*$')",message="aws::ids must be ids of security groups with commas between, such as sg-0123456789abcdef0"
	// +optional
	SecurityGroupSelector Selector `json:"securityGroupSelector,omitzero"`

	// InstanceProfile is the instance profile of the nodes; if unset, the cluster's setting
	// aws.defaultInstanceProfile.
	//
	// +optional
	InstanceProfile *string `json:"instanceProfile,omitempty"`

	// AMIFamily is the operating system of the nodes; if unset, AL2.
	//
	// +optional
	AMIFamily *AMIFamily `json:"amiFamily,omitempty"`

	// Tags are added to instances and to everything that is created with them, in addition to
	// those of the cluster's settings. They may set Name.
	//
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != '')",message="tags may not have an empty key"
	// +optional
	Tags Texts `json:"tags,omitempty"`

	// MetadataOptions configure the instance metadata service. Without them it is enabled, without
	// IPv6, with required session tokens and a hop limit of 2. If only some are set, the others
	// have EC2's defaults: enabled, without IPv6, optional tokens, hop limit 1.
	//
	// +optional
	MetadataOptions *MetadataOptions `json:"metadataOptions,omitempty"`

	// BlockDeviceMappings are the volumes of the nodes; if empty, those of the family.
	//
	// +kubebuilder:validation:MaxItems=15
	// +optional
	BlockDeviceMappings []BlockDeviceMapping `json:"blockDeviceMappings,omitempty"`

	// LaunchTemplate is the name of the user's own launch template, which nodes are launched from
	// instead of one that Daemok creates.
	//
	// +optional
	LaunchTemplate *string `json:"launchTemplate,omitempty"`

	// Context is passed to EC2 with every launch.
	//
	// +optional
	Context *string `json:"context,omitempty"`
}

// AMIFamily is the operating system of images, as far as setting a node up
// goes.
//
// +kubebuilder:validation:MaxLength=32
// +kubebuilder:validation:XValidation:rule="self in ['AL2', 'Bottlerocket', 'Ubuntu', 'Custom', 'Windows2019', 'Windows2022']",message="amiFamily must be AL2, Bottlerocket, Ubuntu, Custom, Windows2019 or Windows2022; others, such as AL2023, are families of an EC2NodeClass"
type AMIFamily string

// The families.
const (
	FamilyAL2          AMIFamily = "AL2"
	FamilyBottlerocket AMIFamily = "Bottlerocket"
	FamilyUbuntu       AMIFamily = "Ubuntu"
	FamilyCustom       AMIFamily = "Custom"
	FamilyWindows2019  AMIFamily = "Windows2019"
	FamilyWindows2022  AMIFamily = "Windows2022"
)

// Family returns the family that is written, or AL2.
func (a *AWS) Family() AMIFamily {
	if a.AMIFamily == nil {
		return FamilyAL2
	}
	return *a.AMIFamily
}
