package v1alpha5

import corev1 "k8s.io/api/core/v1"

// KubeletConfiguration is the configuration of the kubelet.
//
// +kubebuilder:validation:XValidation:rule="!has(self.imageGCHighThresholdPercent) || !has(self.imageGCLowThresholdPercent) || self.imageGCHighThresholdPercent >= self.imageGCLowThresholdPercent",message="imageGCHighThresholdPercent may not be less than imageGCLowThresholdPercent"
// +kubebuilder:validation:XValidation:rule="!has(self.evictionSoft) || self.evictionSoft.all(k, has(self.evictionSoftGracePeriod) && k in self.evictionSoftGracePeriod)",message="each key of evictionSoft must have an evictionSoftGracePeriod"
// +kubebuilder:validation:XValidation:rule="!has(self.evictionSoftGracePeriod) || self.evictionSoftGracePeriod.all(k, has(self.evictionSoft) && k in self.evictionSoft)",message="each key of evictionSoftGracePeriod must have an evictionSoft"
type KubeletConfiguration struct {
	// ClusterDNS are the addresses of the cluster's DNS servers.
	//
	// +optional
	ClusterDNS []string `json:"clusterDNS,omitempty"`

	// ContainerRuntime is the container runtime of the nodes. Only containerd exists now, and it
	// also runs if this says dockerd.
	//
	// +kubebuilder:validation:Enum=containerd;dockerd
	// +optional
	ContainerRuntime *string `json:"containerRuntime,omitempty"`

	// SystemReserved is reserved for the operating system.
	//
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['cpu', 'memory', 'ephemeral-storage', 'pid'])",message="systemReserved may only have the keys cpu, memory, ephemeral-storage and pid"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !string(self[k]).startsWith('-'))",message="systemReserved may not be negative"
	// +optional
	SystemReserved corev1.ResourceList `json:"systemReserved,omitempty"`

	// KubeReserved is reserved for the kubelet and the container runtime.
	//
	// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['cpu', 'memory', 'ephemeral-storage', 'pid'])",message="kubeReserved may only have the keys cpu, memory, ephemeral-storage and pid"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !string(self[k]).startsWith('-'))",message="kubeReserved may not be negative"
	// +optional
	KubeReserved corev1.ResourceList `json:"kubeReserved,omitempty"`

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

	// PodsPerCore is the maximum number of pods for each core of a node.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	PodsPerCore *int32 `json:"podsPerCore,omitempty"`

	// MaxPods is the maximum number of pods on a node.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	MaxPods *int32 `json:"maxPods,omitempty"`
}

// EvictionThresholds are amounts or percentages for eviction signals.
//
// +kubebuilder:validation:XValidation:rule="self.all(k, k in ['memory.available', 'nodefs.available', 'nodefs.inodesFree', 'imagefs.available', 'imagefs.inodesFree', 'pid.available'])",message="eviction thresholds may only have the keys memory.available, nodefs.available, nodefs.inodesFree, imagefs.available, imagefs.inodesFree and pid.available"
// +kubebuilder:validation:MaxProperties=6
type EvictionThresholds map[string]EvictionThreshold

// EvictionThreshold is a quantity or a percentage.
//
// +kubebuilder:validation:MaxLength=64
// +kubebuilder:validation:XValidation:rule="self.matches('^([0-9]{1,2}([.][0-9]*)?|100([.]0*)?)%$') || isQuantity(self)",message="an eviction threshold must be a percentage from 0% to 100% or an amount such as 500Mi"
type EvictionThreshold string
