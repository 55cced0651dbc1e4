package v1alpha5

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
)

// Provisioner is a user's rules for a group of nodes, as the v1alpha5 API
// of the API has them: what they may be, how much there may be of them, and
// when they go.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=provisioners,scope=Cluster,categories=karpenter
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status",priority=1,description="Whether the Provisioner may be used"
// +kubebuilder:printcolumn:name="Template",type="string",JSONPath=".spec.providerRef.name",priority=1,description="AWSNodeTemplate the nodes are made with, where one is named"
// +kubebuilder:printcolumn:name="Nodes",type="integer",JSONPath=".status.nodes",priority=1,description="Number of nodes of the Provisioner"
// +kubebuilder:printcolumn:name="CPU",type="string",JSONPath=".status.resources.cpu",priority=1,description="CPU of its nodes"
// +kubebuilder:printcolumn:name="Memory",type="string",JSONPath=".status.resources.memory",priority=1,description="Memory of its nodes"
// +kubebuilder:printcolumn:name="Weight",type="integer",JSONPath=".spec.weight",priority=1,description="Provisioners with a higher weight are tried first"
type Provisioner struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +optional
	Spec   ProvisionerSpec   `json:"spec,omitempty"`
	Status ProvisionerStatus `json:"status,omitempty"`
}

// ProvisionerList is a list of Provisioners.
//
// +kubebuilder:object:root=true
type ProvisionerList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []Provisioner `json:"items"`
}

// ProvisionerSpec is what the user asks of a group of nodes. Where neither
// provider nor providerRef is set, the AWSNodeTemplate "default" is meant.
//
// +kubebuilder:validation:XValidation:rule="!has(self.provider) || !has(self.providerRef)",message="provider and providerRef may not be set both, remove one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.ttlSecondsAfterEmpty) || !has(self.consolidation) || !has(self.consolidation.enabled) || !self.consolidation.enabled",message="ttlSecondsAfterEmpty may not be set beside consolidation.enabled, which removes empty nodes too: remove one of them"
// +kubebuilder:validation:XValidation:rule="!has(self.taints) || self.taints.all(x, self.taints.exists_one(y, x.key == y.key && x.effect == y.effect))",message="taints may not have the same key and effect twice, a node can have it only once"
// +kubebuilder:validation:XValidation:rule="!has(self.startupTaints) || self.startupTaints.all(x, self.startupTaints.exists_one(y, x.key == y.key && x.effect == y.effect))",message="startupTaints may not have the same key and effect twice, a node can have it only once"
// +kubebuilder:validation:XValidation:rule="!has(self.taints) || !has(self.startupTaints) || self.taints.all(x, !self.startupTaints.exists(y, x.key == y.key && x.effect == y.effect))",message="taints and startupTaints may not have the same key and effect, a node can have it only once"
type ProvisionerSpec struct {
	// Annotations are added to every node.
	//
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`

	// Labels are added to every node. In scheduling each is a requirement with one value.
	//
	// +optional
	Labels NodeLabels `json:"labels,omitempty"`

	// Label is treated as labels, the proper name of the field.
	//
	// +optional
	Label NodeLabels `json:"label,omitempty"`

	// Taints keep pods away that do not tolerate them.
	//
	// +kubebuilder:validation:MaxItems=100
	// +optional
	Taints []corev1.Taint `json:"taints,omitempty"`

	// StartupTaints are on a node when it starts, and another controller removes them. Pods need
	// not tolerate them, and the node is not initialized before they are removed.
	//
	// +kubebuilder:validation:MaxItems=100
	// +optional
	StartupTaints []corev1.Taint `json:"startupTaints,omitempty"`

	// Requirements limit which nodes may be launched; they are combined with the labels and with
	// what pods require. By default, nodes run Linux on amd64, are launched on demand and, if
	// nothing restricts instance types, are of the categories c, m and r and of a generation above
	// 2.
	//
	// +kubebuilder:validation:MaxItems=200
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator != 'In' || (has(x.values) && x.values.size() > 0))",message="a requirement with operator In must have at least one value"
	// +kubebuilder:validation:XValidation:rule="self.all(x, !(x.operator in ['Gt', 'Lt']) || (has(x.values) && x.values.size() == 1 && x.values[0].matches('^[0-9]+$')))",message="a requirement with operator Gt or Lt must have exactly one value, an integer of zero or more"
	// +listType=atomic
	// +optional
	Requirements []Requirement `json:"requirements,omitempty"`

	// KubeletConfiguration is the configuration of the kubelet on the nodes.
	//
	// +optional
	KubeletConfiguration *KubeletConfiguration `json:"kubeletConfiguration,omitempty"`

	// Provider holds the AWS settings of the nodes inline. An AWSNodeTemplate, which providerRef
	// names, has more of them.
	//
	// +optional
	Provider *awsv1alpha1.Provider `json:"provider,omitempty"`

	// ProviderRef names the AWSNodeTemplate with the AWS settings of the nodes.
	//
	// +optional
	ProviderRef *ProviderReference `json:"providerRef,omitempty"`

	// TTLSecondsAfterEmpty is how many seconds a node stays after it has become empty. If unset,
	// empty nodes stay unless consolidation is enabled.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	TTLSecondsAfterEmpty *int64 `json:"ttlSecondsAfterEmpty,omitempty"`

	// TTLSecondsUntilExpired is how many seconds after its creation a node is replaced. If unset
	// or 0, nodes do not expire.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	TTLSecondsUntilExpired *int64 `json:"ttlSecondsUntilExpired,omitempty"`

	// Limits are the maximum of what the nodes may have together.
	//
	// +optional
	Limits *Limits `json:"limits,omitempty"`

	// Weight orders Provisioners: the one with the highest weight is tried first, and one without
	// a weight last.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	Weight *int32 `json:"weight,omitempty"`

	// Consolidation says whether nodes are removed or replaced to save money.
	//
	// +optional
	Consolidation *Consolidation `json:"consolidation,omitempty"`
}

// NodeLabels are labels that nodes get.
//
// +kubebuilder:validation:MaxProperties=100
// +kubebuilder:validation:XValidation:rule="self.all(k, k.matches('^([a-z0-9]([-a-z0-9]*[a-z0-9])?([.][a-z0-9]([-a-z0-9]*[a-z0-9])?)*/)?([A-Za-z0-9][-A-Za-z0-9_.]*)?[A-Za-z0-9]$'))",message="the key of a label must be a name such as team, after a domain and a slash or by itself"
// +kubebuilder:validation:XValidation:rule="self.all(k, k != 'karpenter.sh/provisioner-name')",message="label \"karpenter.sh/provisioner-name\" is restricted, Daemok sets it to the name of the Provisioner"
// +kubebuilder:validation:XValidation:rule="self.all(k, k != 'kubernetes.io/hostname')",message="label \"kubernetes.io/hostname\" is restricted, it differs on every node"
// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('^([^/]*[.])?karpenter[.]sh/') || k in ['karpenter.sh/capacity-type', 'karpenter.sh/provisioner-name'] || k.startsWith('testing.karpenter.sh/'))",message="label domain \"karpenter.sh\" is restricted, only karpenter.sh/capacity-type may be used"
// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('^([^/]*[.])?(kubernetes|k8s)[.]io/') || k in ['beta.kubernetes.io/arch', 'beta.kubernetes.io/instance-type', 'beta.kubernetes.io/os', 'failure-domain.beta.kubernetes.io/region', 'failure-domain.beta.kubernetes.io/zone', 'kubernetes.io/arch', 'kubernetes.io/hostname', 'kubernetes.io/os', 'topology.kubernetes.io/region', 'topology.kubernetes.io/zone'] || k.startsWith('kops.k8s.io/') || k.startsWith('node.kubernetes.io/'))",message="label domains \"kubernetes.io\" and \"k8s.io\" are restricted to the labels that describe instances, use node.kubernetes.io, kops.k8s.io or a domain of your own"
// +kubebuilder:validation:XValidation:rule="self.all(k, !k.matches('^([^/]*[.])?karpenter[.]k8s[.]aws/') || k in ['karpenter.k8s.aws/instance-accelerator-count', 'karpenter.k8s.aws/instance-accelerator-manufacturer', 'karpenter.k8s.aws/instance-accelerator-memory', 'karpenter.k8s.aws/instance-accelerator-name', 'karpenter.k8s.aws/instance-ami-id', 'karpenter.k8s.aws/instance-capability-flex', 'karpenter.k8s.aws/instance-category', 'karpenter.k8s.aws/instance-cpu', 'karpenter.k8s.aws/instance-cpu-manufacturer', 'karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz', 'karpenter.k8s.aws/instance-ebs-bandwidth', 'karpenter.k8s.aws/instance-encryption-in-transit-supported', 'karpenter.k8s.aws/instance-family', 'karpenter.k8s.aws/instance-generation', 'karpenter.k8s.aws/instance-gpu-count', 'karpenter.k8s.aws/instance-gpu-manufacturer', 'karpenter.k8s.aws/instance-gpu-memory', 'karpenter.k8s.aws/instance-gpu-name', 'karpenter.k8s.aws/instance-hypervisor', 'karpenter.k8s.aws/instance-local-nvme', 'karpenter.k8s.aws/instance-memory', 'karpenter.k8s.aws/instance-network-bandwidth', 'karpenter.k8s.aws/instance-pods', 'karpenter.k8s.aws/instance-size', 'karpenter.k8s.aws/instance-tenancy', 'karpenter.k8s.aws/nitro-sandbox'])",message="label domain \"karpenter.k8s.aws\" is restricted to the labels that describe instances"
type NodeLabels map[string]string

// ProviderReference names an AWSNodeTemplate.
type ProviderReference struct {
	// APIVersion of the template, usually karpenter.k8s.aws/v1alpha1.
	//
	// +optional
	APIVersion string `json:"apiVersion,omitempty"`

	// Kind of the template; if set, it must be AWSNodeTemplate.
	//
	// +optional
	Kind string `json:"kind,omitempty"`

	// Name of the template.
	//
	// +kubebuilder:validation:XValidation:rule="self != ''",message="name may not be empty"
	Name string `json:"name"`
}

// Consolidation says whether nodes are removed or replaced to save money.
type Consolidation struct {
	// Enabled enables consolidation.
	//
	// +optional
	Enabled *bool `json:"enabled,omitempty"`
}
