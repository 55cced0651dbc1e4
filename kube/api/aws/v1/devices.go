package v1

import "k8s.io/apimachinery/pkg/api/resource"

// BlockDeviceMapping is one volume of a node.
type BlockDeviceMapping struct {
	// DeviceName is the name of the device, such as /dev/xvda.
	//
	// +optional
	DeviceName *string `json:"deviceName,omitempty"`

	// EBS is the volume behind it.
	//
	// +kubebuilder:validation:XValidation:rule="has(self.snapshotID) || has(self.volumeSize)",message="snapshotID or volumeSize must be set"
	// +kubebuilder:validation:XValidation:rule="!has(self.volumeInitializationRate) || (has(self.snapshotID) && self.snapshotID != '')",message="volumeInitializationRate needs a snapshotID"
	// +optional
	EBS *BlockDevice `json:"ebs,omitempty"`

	// RootVolume marks the volume on which the kubelet keeps its files.
	//
	// +optional
	RootVolume bool `json:"rootVolume,omitempty"`
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

	// VolumeInitializationRate is the rate, in MiB per second, at which the volume is filled from
	// its snapshot.
	//
	// +kubebuilder:validation:Minimum=100
	// +kubebuilder:validation:Maximum=300
	// +optional
	VolumeInitializationRate *int32 `json:"volumeInitializationRate,omitempty"`

	// VolumeSize is the size of the volume: 1Gi to 59000Gi, 1G to 64000G, 1Ti to
	// 58Ti, or 1T to 64T.
	//
	// +optional
	VolumeSize *VolumeSize `json:"volumeSize,omitempty"`

	// VolumeType is the type of the volume.
	//
	// +kubebuilder:validation:Enum=standard;io1;io2;gp2;sc1;st1;gp3
	// +optional
	VolumeType *string `json:"volumeType,omitempty"`
}

// VolumeSize is the size of a volume with its unit.
//
// +kubebuilder:validation:Pattern=`^((([1-9][0-9]{0,3}|[1-4][0-9]{4}|5[0-8][0-9]{3}|59000)Gi)|(([1-9][0-9]{0,3}|[1-5][0-9]{4}|6[0-3][0-9]{3}|64000)G)|(([1-9]|[1-4][0-9]|5[0-8])Ti)|(([1-9]|[1-5][0-9]|6[0-4])T))$`
type VolumeSize string

// Quantity returns the size as an amount of bytes. A text that is none,
// which admission refuses, counts as zero.
func (s VolumeSize) Quantity() resource.Quantity {
	q, err := resource.ParseQuantity(string(s))
	if err != nil {
		return resource.Quantity{}
	}
	return q
}

// InstanceStorePolicy says what is done with the disks of an instance.
//
// +kubebuilder:validation:Enum=RAID0
type InstanceStorePolicy string

// InstanceStoreRAID0 makes one disk of them for the kubelet and containers.
const InstanceStoreRAID0 InstanceStorePolicy = "RAID0"

// NetworkInterface is one network interface of a node.
type NetworkInterface struct {
	// NetworkCardIndex is the card the interface is on.
	//
	// +kubebuilder:validation:Minimum=0
	NetworkCardIndex int32 `json:"networkCardIndex"`

	// DeviceIndex is its index on the network card.
	//
	// +kubebuilder:validation:Minimum=0
	DeviceIndex int32 `json:"deviceIndex"`

	// InterfaceType is its type.
	InterfaceType InterfaceType `json:"interfaceType"`
}

// InterfaceType is the kind of a network interface.
//
// +kubebuilder:validation:Enum=interface;efa-only
type InterfaceType string

// The kinds of network interfaces.
const (
	InterfaceTypeENI     InterfaceType = "interface"
	InterfaceTypeEFAOnly InterfaceType = "efa-only"
)

// MetadataOptions configure the instance metadata service.
type MetadataOptions struct {
	// HTTPEndpoint enables the service.
	//
	// +kubebuilder:default=enabled
	// +kubebuilder:validation:Enum=enabled;disabled
	// +optional
	HTTPEndpoint *string `json:"httpEndpoint,omitempty"`

	// HTTPProtocolIPv6 enables its IPv6 address.
	//
	// +kubebuilder:default=disabled
	// +kubebuilder:validation:Enum=enabled;disabled
	// +optional
	HTTPProtocolIPv6 *string `json:"httpProtocolIPv6,omitempty"`

	// HTTPPutResponseHopLimit is the number of network hops that its answers may travel; with 1,
	// only pods in the host's network get them.
	//
	// +kubebuilder:default=1
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=64
	// +optional
	HTTPPutResponseHopLimit *int64 `json:"httpPutResponseHopLimit,omitempty"`

	// HTTPTokens says whether callers need a session token.
	//
	// +kubebuilder:default=required
	// +kubebuilder:validation:Enum=required;optional
	// +optional
	HTTPTokens *string `json:"httpTokens,omitempty"`
}

// ConnectionTracking sets how many seconds idle connections are remembered.
type ConnectionTracking struct {
	// TCPEstablishedTimeout is for established TCP connections.
	//
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=432000
	// +optional
	TCPEstablishedTimeout *int32 `json:"tcpEstablishedTimeout,omitempty"`

	// UDPStreamTimeout is for UDP flows that saw more than one request.
	//
	// +kubebuilder:validation:Minimum=60
	// +kubebuilder:validation:Maximum=180
	// +optional
	UDPStreamTimeout *int32 `json:"udpStreamTimeout,omitempty"`

	// UDPTimeout is for other UDP flows.
	//
	// +kubebuilder:validation:Minimum=30
	// +kubebuilder:validation:Maximum=60
	// +optional
	UDPTimeout *int32 `json:"udpTimeout,omitempty"`
}

// CPUOptions configure the processors.
type CPUOptions struct {
	// NestedVirtualization lets nodes run virtual machines.
	//
	// +kubebuilder:validation:Enum=enabled;disabled
	// +optional
	NestedVirtualization *string `json:"nestedVirtualization,omitempty"`
}
