package v1alpha1

import "k8s.io/apimachinery/pkg/api/resource"

// MetadataOptions configure the instance metadata service.
type MetadataOptions struct {
	// HTTPEndpoint enables the service.
	//
	// +kubebuilder:validation:Enum=enabled;disabled
	// +optional
	HTTPEndpoint *string `json:"httpEndpoint,omitempty"`

	// HTTPProtocolIPv6 enables its IPv6 address.
	//
	// +kubebuilder:validation:Enum=enabled;disabled
	// +optional
	HTTPProtocolIPv6 *string `json:"httpProtocolIPv6,omitempty"`

	// HTTPPutResponseHopLimit is the number of network hops that its answers may travel.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	// +optional
	HTTPPutResponseHopLimit *int64 `json:"httpPutResponseHopLimit,omitempty"`

	// HTTPTokens says whether callers need a session token.
	//
	// +kubebuilder:validation:Enum=required;optional
	// +optional
	HTTPTokens *string `json:"httpTokens,omitempty"`
}

// BlockDeviceMapping is one volume of a node.
type BlockDeviceMapping struct {
	// DeviceName is the name of the device, such as /dev/xvda.
	DeviceName string `json:"deviceName"`

	// EBS is the volume behind it.
	//
	// +kubebuilder:validation:XValidation:rule="has(self.volumeSize) || has(self.snapshotID)",message="volumeSize must be set, unless snapshotID is"
	EBS BlockDevice `json:"ebs"`
}

// BlockDevice is an EBS volume.
type BlockDevice struct {
	// DeleteOnTermination says whether the volume is deleted with its instance.
	//
	// +optional
	DeleteOnTermination *bool `json:"deleteOnTermination,omitempty"`

	// Encrypted says whether the volume is encrypted.
	//
	// +optional
	Encrypted *bool `json:"encrypted,omitempty"`

	// IOPS is the number of operations per second that the volume is provisioned for.
	//
	// +optional
	IOPS *int64 `json:"iops,omitempty"`

	// KMSKeyID is the key that the volume is encrypted with.
	//
	// +optional
	KMSKeyID *string `json:"kmsKeyID,omitempty"`

	// SnapshotID is the snapshot that the volume is created from.
	//
	// +optional
	SnapshotID *string `json:"snapshotID,omitempty"`

	// Throughput of the volume in MiB per second.
	//
	// +optional
	Throughput *int64 `json:"throughput,omitempty"`

	// VolumeSize is the size of the volume, from 1G to 64T.
	//
	// +kubebuilder:validation:XValidation:rule="type(self) == int ? self >= 1000000000 && self <= 64000000000000 : [quantity(self)].all(q, q.compareTo(quantity('1G')) >= 0 && q.compareTo(quantity('64T')) <= 0)",message="volumeSize must be from 1G to 64T, with its unit, such as 20Gi"
	// +optional
	VolumeSize *resource.Quantity `json:"volumeSize,omitempty"`

	// VolumeType is the type of the volume.
	//
	// +kubebuilder:validation:Enum=standard;io1;io2;gp2;sc1;st1;gp3
	// +optional
	VolumeType *string `json:"volumeType,omitempty"`
}
