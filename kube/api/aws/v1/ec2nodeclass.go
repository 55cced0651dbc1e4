package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// EC2NodeClass holds a user's AWS settings for nodes.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=ec2nodeclasses,scope=Cluster,categories=karpenter,shortName={ec2nc,ec2ncs}
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status",description="Whether the class may be used"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Role",type="string",JSONPath=".spec.role",priority=1,description="Role of the nodes"
type EC2NodeClass struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:XValidation:rule="has(self.amiFamily) || self.amiSelectorTerms.exists(x, has(x.alias))",message="amiFamily must be set when no amiSelectorTerms has an alias"
	// +kubebuilder:validation:XValidation:rule="!has(self.amiFamily) || self.amiFamily == 'Custom' || self.amiSelectorTerms.all(x, !has(x.alias) || x.alias.find('^[^@]+') == self.amiFamily.lowerAscii())",message="amiFamily must be the family of the alias or Custom"
	// +kubebuilder:validation:XValidation:rule="has(self.role) != has(self.instanceProfile)",message="exactly one of role and instanceProfile must be set"
	Spec   EC2NodeClassSpec   `json:"spec"`
	Status EC2NodeClassStatus `json:"status,omitempty"`
}

// EC2NodeClassList is a list of classes.
//
// +kubebuilder:object:root=true
type EC2NodeClassList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []EC2NodeClass `json:"items"`
}

// EC2NodeClassSpec is how nodes on AWS are launched.
type EC2NodeClassSpec struct {
	// SubnetSelectorTerms select the subnets: those that match one of the terms.
	//
	// +kubebuilder:validation:XValidation:rule="self.size() != 0",message="subnetSelectorTerms may not be empty"
	// +kubebuilder:validation:XValidation:rule="self.all(x, has(x.tags) || has(x.id))",message="each of subnetSelectorTerms must set tags or id"
	// +kubebuilder:validation:XValidation:rule="self.size() == 0 || !self.all(x, has(x.id) && has(x.tags))",message="in subnetSelectorTerms id may not be set beside tags"
	// +kubebuilder:validation:MaxItems=30
	SubnetSelectorTerms []SubnetSelectorTerm `json:"subnetSelectorTerms"`

	// SecurityGroupSelectorTerms select the security groups: those that match one of the terms.
	//
	// +kubebuilder:validation:XValidation:rule="self.size() != 0",message="securityGroupSelectorTerms may not be empty"
	// +kubebuilder:validation:XValidation:rule="self.all(x, has(x.tags) || has(x.id) || has(x.name))",message="each of securityGroupSelectorTerms must set tags, id or name"
	// +kubebuilder:validation:XValidation:rule="self.size() == 0 || !self.all(x, has(x.id) && (has(x.tags) || has(x.name)))",message="in securityGroupSelectorTerms id may not be set beside tags or name"
	// +kubebuilder:validation:XValidation:rule="self.size() == 0 || !self.all(x, has(x.name) && (has(x.tags) || has(x.id)))",message="in securityGroupSelectorTerms name may not be set beside tags or id"
	// +kubebuilder:validation:MaxItems=30
	SecurityGroupSelectorTerms []SecurityGroupSelectorTerm `json:"securityGroupSelectorTerms"`

	// CapacityReservationSelectorTerms select the capacity reservations that nodes may use: those
	// that match one of the terms.
	//
	// +kubebuilder:validation:XValidation:rule="self.all(x, has(x.tags) || has(x.id) || has(x.instanceMatchCriteria))",message="each of capacityReservationSelectorTerms must set tags, id or instanceMatchCriteria"
	// +kubebuilder:validation:XValidation:rule="self.size() == 0 || !self.all(x, has(x.id) && (has(x.tags) || has(x.ownerID) || has(x.instanceMatchCriteria)))",message="in capacityReservationSelectorTerms id may not be set beside tags, ownerID or instanceMatchCriteria"
	// +kubebuilder:validation:MaxItems=30
	// +optional
	CapacityReservationSelectorTerms []CapacityReservationSelectorTerm `json:"capacityReservationSelectorTerms,omitempty"`

	// PlacementGroupSelector names the placement group that nodes are launched into.
	//
	// +optional
	PlacementGroupSelector *PlacementGroupSelector `json:"placementGroupSelector,omitempty"`

	// AssociatePublicIPAddress says whether nodes get a public address. If unset, the subnet
	// decides.
	//
	// +optional
	AssociatePublicIPAddress *bool `json:"associatePublicIPAddress,omitempty"`

	// IPPrefixCount is how many prefixes the first network interface gets: IPv4 prefixes (/28), or
	// IPv6 prefixes (/80) if pods have IPv6 addresses.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	IPPrefixCount *int32 `json:"ipPrefixCount,omitempty"`

	// AMISelectorTerms select the images: those that match one of the terms.
	//
	// +kubebuilder:validation:XValidation:rule="self.size() != 0",message="amiSelectorTerms may not be empty"
	// +kubebuilder:validation:XValidation:rule="self.all(x, has(x.tags) || has(x.id) || has(x.name) || has(x.alias) || has(x.ssmParameter))",message="each of amiSelectorTerms must set tags, id, name, alias or ssmParameter"
	// +kubebuilder:validation:XValidation:rule="self.all(x, !has(x.id) || !(has(x.alias) || has(x.tags) || has(x.name) || has(x.owner)))",message="in amiSelectorTerms id may not be set beside alias, tags, name or owner"
	// +kubebuilder:validation:XValidation:rule="self.all(x, !has(x.alias) || !(has(x.id) || has(x.tags) || has(x.name) || has(x.owner) || has(x.ssmParameter)))",message="in amiSelectorTerms alias may not be set beside other fields"
	// +kubebuilder:validation:XValidation:rule="self.size() < 2 || self.all(x, !has(x.alias))",message="a term with alias must be the only one of amiSelectorTerms"
	// +kubebuilder:validation:MaxItems=30
	AMISelectorTerms []AMISelectorTerm `json:"amiSelectorTerms"`

	// AMIFamily determines the format of the user data and the defaults of the operating system.
	// You may leave it out if there is an alias.
	//
	// +optional
	AMIFamily *AMIFamily `json:"amiFamily,omitempty"`

	// UserData is merged into the user data that nodes start with, in the format of the family.
	//
	// +optional
	UserData *string `json:"userData,omitempty"`

	// Role is the IAM role of the nodes; Daemok creates an instance profile for it.
	//
	// +kubebuilder:validation:XValidation:rule="self != ''",message="role may not be empty"
	// +optional
	Role string `json:"role,omitempty"`

	// InstanceProfile is an existing instance profile for the nodes.
	//
	// +kubebuilder:validation:XValidation:rule="self != ''",message="instanceProfile may not be empty"
	// +optional
	InstanceProfile *string `json:"instanceProfile,omitempty"`

	// Tags are added to instances and to everything that is created with them.
	//
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != '')",message="tags may not have an empty key"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != 'eks:eks-cluster-name')",message="tag \"eks:eks-cluster-name\" is restricted, Daemok sets it"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.startsWith('kubernetes.io/cluster'))",message="tags that begin with \"kubernetes.io/cluster\" are restricted, Daemok sets them"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != 'karpenter.sh/nodepool')",message="tag \"karpenter.sh/nodepool\" is restricted, Daemok sets it"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != 'karpenter.sh/nodeclaim')",message="tag \"karpenter.sh/nodeclaim\" is restricted, Daemok sets it"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != 'karpenter.k8s.aws/ec2nodeclass')",message="tag \"karpenter.k8s.aws/ec2nodeclass\" is restricted, Daemok sets it"
	// +optional
	Tags map[string]string `json:"tags,omitempty"`

	// Kubelet is the configuration of the kubelet on the nodes.
	//
	// +kubebuilder:validation:XValidation:rule="!has(self.evictionSoft) || self.evictionSoft.all(k, has(self.evictionSoftGracePeriod) && k in self.evictionSoftGracePeriod)",message="each key of evictionSoft must have an evictionSoftGracePeriod"
	// +kubebuilder:validation:XValidation:rule="!has(self.evictionSoftGracePeriod) || self.evictionSoftGracePeriod.all(k, has(self.evictionSoft) && k in self.evictionSoft)",message="each key of evictionSoftGracePeriod must have an evictionSoft"
	// +optional
	Kubelet *Kubelet `json:"kubelet,omitempty"`

	// BlockDeviceMappings are the volumes of the nodes.
	//
	// +kubebuilder:validation:XValidation:rule="self.filter(x, has(x.rootVolume) && x.rootVolume).size() <= 1",message="only one of blockDeviceMappings may have rootVolume"
	// +kubebuilder:validation:MaxItems=50
	// +optional
	BlockDeviceMappings []BlockDeviceMapping `json:"blockDeviceMappings,omitempty"`

	// InstanceStorePolicy says how the local disks of an instance are used. If unset, they are not
	// used.
	//
	// +optional
	InstanceStorePolicy *InstanceStorePolicy `json:"instanceStorePolicy,omitempty"`

	// NetworkInterfaces are the interfaces of the nodes, for those that need
	// more than one.
	//
	// +kubebuilder:validation:XValidation:rule="self.size() == 0 || self.exists(x, x.networkCardIndex == 0 && x.deviceIndex == 0 && x.interfaceType == 'interface')",message="networkInterfaces must contain one of type interface with networkCardIndex 0 and deviceIndex 0"
	// +kubebuilder:validation:XValidation:rule="self.all(x, self.exists_one(y, x.networkCardIndex == y.networkCardIndex && x.deviceIndex == y.deviceIndex))",message="each of networkInterfaces must have its own pair of networkCardIndex and deviceIndex"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.interfaceType != 'efa-only' || self.exists_one(y, y.interfaceType == 'efa-only' && x.networkCardIndex == y.networkCardIndex))",message="networkInterfaces may contain only one of type efa-only for each networkCardIndex"
	// +kubebuilder:validation:MaxItems=150
	// +optional
	NetworkInterfaces []NetworkInterface `json:"networkInterfaces,omitempty"`

	// DetailedMonitoring enables CloudWatch's detailed monitoring.
	//
	// +optional
	DetailedMonitoring *bool `json:"detailedMonitoring,omitempty"`

	// MetadataOptions configure the instance metadata service.
	//
	// +kubebuilder:default={httpEndpoint: enabled, httpProtocolIPv6: disabled, httpPutResponseHopLimit: 1, httpTokens: required}
	// +optional
	MetadataOptions *MetadataOptions `json:"metadataOptions,omitempty"`

	// ConnectionTracking sets how long idle connections are tracked.
	//
	// +kubebuilder:validation:XValidation:rule="has(self.tcpEstablishedTimeout) || has(self.udpStreamTimeout) || has(self.udpTimeout)",message="connectionTracking must set at least one of tcpEstablishedTimeout, udpStreamTimeout and udpTimeout"
	// +optional
	ConnectionTracking *ConnectionTracking `json:"connectionTracking,omitempty"`

	// CPUOptions configure the processors.
	//
	// +optional
	CPUOptions *CPUOptions `json:"cpuOptions,omitempty"`

	// Context is passed to EC2 with every launch.
	//
	// +optional
	Context *string `json:"context,omitempty"`
}
