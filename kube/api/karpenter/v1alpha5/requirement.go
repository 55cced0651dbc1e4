package v1alpha5

import corev1 "k8s.io/api/core/v1"

// Requirement limits the values one label of a node may have.
type Requirement struct {
	// Key is the label that the requirement is about.
	//
	// +kubebuilder:validation:MaxLength=316
	// +kubebuilder:validation:Pattern=`^([a-z0-9]([-a-z0-9]*[a-z0-9])?(\.[a-z0-9]([-a-z0-9]*[a-z0-9])?)*(\/))?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$`
	// +kubebuilder:validation:XValidation:rule="self != 'karpenter.sh/provisioner-name'",message="label \"karpenter.sh/provisioner-name\" is restricted, Daemok sets it to the name of the Provisioner"
	// +kubebuilder:validation:XValidation:rule="self != 'kubernetes.io/hostname'",message="label \"kubernetes.io/hostname\" is restricted, an instance has no host name before it is launched"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([^/]*[.])?karpenter[.]sh/') || self in ['karpenter.sh/capacity-type', 'karpenter.sh/provisioner-name'] || self.startsWith('testing.karpenter.sh/')",message="label domain \"karpenter.sh\" is restricted, only karpenter.sh/capacity-type may be used"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([^/]*[.])?(kubernetes|k8s)[.]io/') || self in ['beta.kubernetes.io/arch', 'beta.kubernetes.io/instance-type', 'beta.kubernetes.io/os', 'failure-domain.beta.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/zone', 'kubernetes.io/arch', 'kubernetes.io/hostname', 'kubernetes.io/os', 'topology.kubernetes.io/region', 'topology.kubernetes.io/zone'] || self.startsWith('kops.k8s.io/') || self.startsWith('node.kubernetes.io/')",message="label domains \"kubernetes.io\" and \"k8s.io\" are restricted to the labels that describe instances, use node.kubernetes.io, kops.k8s.io or a domain of your own"
	// +kubebuilder:validation:XValidation:rule="!self.matches('^([^/]*[.])?karpenter[.]k8s[.]aws/') || self in ['karpenter.k8s.aws/instance-accelerator-count', 'karpenter.k8s.aws/instance-accelerator-manufacturer', 'karpenter.k8s.aws/instance-accelerator-memory', 'karpenter.k8s.aws/instance-accelerator-name', 'karpenter.k8s.aws/instance-ami-id', 'karpenter.k8s.aws/instance-capability-flex', 'karpenter.k8s.aws/instance-category', 'karpenter.k8s.aws/instance-cpu', 'karpenter.k8s.aws/instance-cpu-manufacturer', 'karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz', 'karpenter.k8s.aws/instance-ebs-bandwidth', 'karpenter.k8s.aws/instance-encryption-in-transit-supported', 'karpenter.k8s.aws/instance-family', 'karpenter.k8s.aws/instance-generation', 'karpenter.k8s.aws/instance-gpu-count', 'karpenter.k8s.aws/instance-gpu-manufacturer', 'karpenter.k8s.aws/instance-gpu-memory', 'karpenter.k8s.aws/instance-gpu-name', 'karpenter.k8s.aws/instance-hypervisor', 'karpenter.k8s.aws/instance-local-nvme', 'karpenter.k8s.aws/instance-memory', 'karpenter.k8s.aws/instance-network-bandwidth', 'karpenter.k8s.aws/instance-pods', 'karpenter.k8s.aws/instance-size', 'karpenter.k8s.aws/instance-tenancy', 'karpenter.k8s.aws/nitro-sandbox']",message="label domain \"karpenter.k8s.aws\" is restricted to the labels that describe instances"
	Key string `json:"key"`

	// Operator relates the label to the values.
	//
	// +kubebuilder:validation:Enum=In;NotIn;Exists;DoesNotExist;Gt;Lt
	Operator corev1.NodeSelectorOperator `json:"operator"`

	// Values are what the operator compares with: at least one for In, exactly
	// one integer for Gt and Lt, none for Exists and DoesNotExist.
	//
	// +kubebuilder:validation:items:MaxLength=63
	// +kubebuilder:validation:items:Pattern=`^(([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9])?$`
	// +listType=atomic
	// +optional
	Values []string `json:"values,omitempty"`
}
