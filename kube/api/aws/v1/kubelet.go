package v1

import (
	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"k8s.io/apimachinery/pkg/util/intstr"
)

// Kubelet is the configuration of the kubelet. The twelve fields below are
// checked by the API server; any other field of KubeletConfiguration is kept
// in Further and checked at run time.
//
// +kubebuilder:pruning:PreserveUnknownFields
type Kubelet struct {
	// ClusterDNS are the addresses of the cluster's DNS servers.
	//
	// +optional
	ClusterDNS []string `json:"clusterDNS,omitempty"`

	// MaxPods is the maximum number of pods on a node: a number, or an expression over the
	// instance type.
	//
	// +kubebuilder:validation:XValidation:rule="type(self) != int || self >= 0",message="maxPods may not be negative"
	// +optional
	MaxPods *intstr.IntOrString `json:"maxPods,omitempty"`

	// PodsPerCore is the maximum number of pods for each core of a node.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	PodsPerCore *int32 `json:"podsPerCore,omitempty"`

	// SystemReserved is reserved for the operating system: a quantity for each resource, or an
	// expression over the instance type.
	//
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['cpu', 'memory', 'ephemeral-storage', 'pid'])",message="systemReserved may only have the keys cpu, memory, ephemeral-storage and pid"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !self[k].startsWith('-'))",message="systemReserved may not be negative"
	// +kubebuilder:validation:XValidation:rule="self.all(k, isQuantity(self[k]) || self[k].matches('[-+*/%?(_]|vcpus'))",message="systemReserved must be a quantity such as 100m or 1Gi, or an expression over the instance type"
	// +kubebuilder:validation:MaxProperties=4
	// +optional
	SystemReserved map[string]string `json:"systemReserved,omitempty"`

	// KubeReserved is reserved for the kubelet and the container runtime: a quantity for each
	// resource, or an expression over the instance type.
	//
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['cpu', 'memory', 'ephemeral-storage', 'pid'])",message="kubeReserved may only have the keys cpu, memory, ephemeral-storage and pid"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !self[k].startsWith('-'))",message="kubeReserved may not be negative"
	// +kubebuilder:validation:XValidation:rule="self.all(k, isQuantity(self[k]) || self[k].matches('[-+*/%?(_]|vcpus'))",message="kubeReserved must be a quantity such as 100m or 1Gi, or an expression over the instance type"
	// +kubebuilder:validation:MaxProperties=4
	// +optional
	KubeReserved map[string]string `json:"kubeReserved,omitempty"`

	// EvictionHard are the signals below which pods are evicted at once.
	//
	// +optional
	EvictionHard EvictionThresholds `json:"evictionHard,omitempty"`

	// EvictionSoft are the signals below which pods are evicted after the grace
	// period of the signal.
	//
	// +optional
	EvictionSoft EvictionThresholds `json:"evictionSoft,omitempty"`

	// EvictionSoftGracePeriod is the grace period for each soft eviction signal.
	//
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'imagefs.inodesFree', 'pid.available'])",message="evictionSoftGracePeriod may only have the keys memory.available, nodefs.available, nodefs.inodesFree, imagefs.available, imagefs.inodesFree and pid.available"
	// +kubebuilder:validation:MaxProperties=6
	// +optional
	EvictionSoftGracePeriod map[string]string `json:"evictionSoftGracePeriod,omitempty"`

	// EvictionMaxPodGracePeriod is the longest time, in seconds, that a pod may take to terminate
	// after a soft eviction.
	//
	// +optional
	EvictionMaxPodGracePeriod *int32 `json:"evictionMaxPodGracePeriod,omitempty"`

	// ImageGCHighThresholdPercent is the disk usage above which images are removed.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	ImageGCHighThresholdPercent *int32 `json:"imageGCHighThresholdPercent,omitempty"`

	// ImageGCLowThresholdPercent is the disk usage down to which images are removed.
	//
	// +kubebuilder:validation:Minimum=0
	// +kubebuilder:validation:Maximum=100
	// +optional
	ImageGCLowThresholdPercent *int32 `json:"imageGCLowThresholdPercent,omitempty"`

	// CPUCFSQuota says whether limits on CPU are enforced.
	//
	// +optional
	CPUCFSQuota *bool `json:"cpuCFSQuota,omitempty"`

	// Further are all other fields, as written.
	Further map[string]apiextensionsv1.JSON `json:"-"`
}

// EvictionThresholds are amounts or percentages for eviction signals.
//
// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'imagefs.inodesFree', 'pid.available'])",message="eviction thresholds may only have the keys memory.available, nodefs.available, nodefs.inodesFree, imagefs.available, imagefs.inodesFree and pid.available"
// +kubebuilder:validation:MaxProperties=6
type EvictionThresholds map[string]EvictionThreshold

// EvictionThreshold is a quantity, or a percentage with at most two decimals.
//
// +kubebuilder:validation:Pattern=`^((\d{1,2}(\.\d{1,2})?|100(\.0{1,2})?)%|(\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))(([KMGTPE]i)|[mkMGTPE]|([eE](\+|-)?(([0-9]+(\.[0-9]*)?)|(\.[0-9]+))))?)$`
type EvictionThreshold string
