package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodePool holds a user's rules for a group of nodes: which instances they may be, how many there
// may be, and when they may be disrupted.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=nodepools,scope=Cluster,categories=karpenter
// +kubebuilder:subresource:status
// +kubebuilder:subresource:scale:specpath=.spec.replicas,statuspath=.status.nodes
// +kubebuilder:printcolumn:name="NodeClass",type="string",JSONPath=".spec.template.spec.nodeClassRef.name",description="Class the nodes are made with"
// +kubebuilder:printcolumn:name="Nodes",type="string",JSONPath=".status.nodes",description="Number of nodes of the pool"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status",description="Whether the pool may be used"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="Weight",type="integer",JSONPath=".spec.weight",priority=1,description="Pools with a higher weight are tried first"
// +kubebuilder:printcolumn:name="CPU",type="string",JSONPath=".status.resources.cpu",priority=1,description="CPU of the pool's nodes"
// +kubebuilder:printcolumn:name="Memory",type="string",JSONPath=".status.resources.memory",priority=1,description="Memory of the pool's nodes"
type NodePool struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	Spec   NodePoolSpec   `json:"spec"`
	Status NodePoolStatus `json:"status,omitempty"`
}

// NodePoolList is a list of pools.
//
// +kubebuilder:object:root=true
type NodePoolList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []NodePool `json:"items"`
}

// NodePoolSpec is what the user asks of a pool. A pool with replicas is
// static: it keeps that many nodes whether pods need them or not.
//
// +kubebuilder:validation:XValidation:rule="has(self.replicas) == has(oldSelf.replicas)",message="replicas cannot be added or removed after creation, make a new NodePool instead"
// +kubebuilder:validation:XValidation:rule="!has(self.replicas) || !has(self.limits) || self.limits.all(k, k == 'nodes')",message="only limits.nodes may be set beside replicas"
// +kubebuilder:validation:XValidation:rule="!has(self.replicas) || !has(self.weight)",message="weight may not be set beside replicas"
type NodePoolSpec struct {
	// Template is what the pool's nodes are launched from. A change of it, except of its
	// requirements, makes existing nodes drift.
	Template NodeClaimTemplate `json:"template"`

	// Disruption says when and how many nodes may be replaced or removed.
	//
	// +kubebuilder:default={consolidateAfter: "0s"}
	// +optional
	Disruption Disruption `json:"disruption,omitzero"`

	// Limits are the maximum of what the pool's nodes have together. Keys are resources, including
	// extended ones, and "nodes", the number of nodes.
	//
	// +optional
	Limits corev1.ResourceList `json:"limits,omitempty"`

	// Weight orders pools: the pool with the highest weight is tried first, and a pool without one
	// last.
	//
	// +kubebuilder:validation:Minimum=1
	// +kubebuilder:validation:Maximum=100
	// +optional
	Weight *int32 `json:"weight,omitempty"`

	// Replicas is the number of nodes that a static pool keeps.
	//
	// +kubebuilder:validation:Minimum=0
	// +optional
	Replicas *int64 `json:"replicas,omitempty"`
}

// NodeClaimTemplate is what claims of a pool are copied from.
type NodeClaimTemplate struct {
	// Metadata is added to every node of the pool.
	//
	// +optional
	Metadata TemplateMeta `json:"metadata,omitzero"`

	// Spec is the initial spec of each new claim.
	Spec NodeClaimTemplateSpec `json:"spec"`
}

// TemplateMeta is the metadata that claims and nodes inherit from their pool.
type TemplateMeta struct {
	// Labels are added to every node. In scheduling each is a requirement with one value.
	//
	// +kubebuilder:validation:MaxProperties=100
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.find('^[^/]+').endsWith('karpenter.sh') || k in ['karpenter.sh/capacity-type', 'karpenter.sh/nodepool'])",message="label domain \"karpenter.sh\" is restricted, only karpenter.sh/capacity-type may be used"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != 'karpenter.sh/nodepool')",message="label \"karpenter.sh/nodepool\" is restricted, Daemok sets it to the name of the pool"
	// +kubebuilder:validation:XValidation:rule="self.all(k, k != 'kubernetes.io/hostname')",message="label \"kubernetes.io/hostname\" is restricted, it differs on every node"
	// +kubebuilder:validation:XValidation:rule="self.all(k, !k.find('^[^/]+').endsWith('karpenter.k8s.aws') || k in ['karpenter.k8s.aws/capacity-reservation-id', 'karpenter.k8s.aws/capacity-reservation-interruptible', 'karpenter.k8s.aws/capacity-reservation-type', 'karpenter.k8s.aws/ec2nodeclass', 'karpenter.k8s.aws/instance-accelerator-count', 'karpenter.k8s.aws/instance-accelerator-manufacturer', 'karpenter.k8s.aws/instance-accelerator-name', 'karpenter.k8s.aws/instance-capability-flex', 'karpenter.k8s.aws/instance-category', 'karpenter.k8s.aws/instance-cpu', 'karpenter.k8s.aws/instance-cpu-manufacturer', 'karpenter.k8s.aws/instance-cpu-sustained-clock-speed-mhz', 'karpenter.k8s.aws/instance-ebs-bandwidth', 'karpenter.k8s.aws/instance-encryption-in-transit-supported', 'karpenter.k8s.aws/instance-family', 'karpenter.k8s.aws/instance-generation', 'karpenter.k8s.aws/instance-gpu-count', 'karpenter.k8s.aws/instance-gpu-manufacturer', 'karpenter.k8s.aws/instance-gpu-memory', 'karpenter.k8s.aws/instance-gpu-name', 'karpenter.k8s.aws/instance-hypervisor', 'karpenter.k8s.aws/instance-local-nvme', 'karpenter.k8s.aws/instance-memory', 'karpenter.k8s.aws/instance-network-bandwidth', 'karpenter.k8s.aws/instance-size', 'karpenter.k8s.aws/instance-tenancy', 'karpenter.k8s.aws/nitro-sandbox', 'karpenter.k8s.aws/placement-group-id', 'karpenter.k8s.aws/placement-group-partition'])",message="label domain \"karpenter.k8s.aws\" is restricted to the labels that describe instances"
	// +optional
	Labels map[string]string `json:"labels,omitempty"`

	// Annotations are added to every claim and node.
	//
	// +optional
	Annotations map[string]string `json:"annotations,omitempty"`
}

// NodeClaimTemplateSpec is what each new claim of a pool begins with.
type NodeClaimTemplateSpec struct {
	// Requirements limit which nodes the pool may have; they are combined with the labels and with
	// what pods require.
	//
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.key != 'karpenter.sh/nodepool')",message="label \"karpenter.sh/nodepool\" is restricted, Daemok sets it to the name of the pool"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator != 'In' || (has(x.values) && x.values.size() > 0))",message="a requirement with operator In must have at least one value"
	// +kubebuilder:validation:XValidation:rule="self.all(x, !(x.operator in ['Gt', 'Lt', 'Gte', 'Lte']) || (has(x.values) && x.values.size() == 1 && x.values[0].size() > 0 && x.values[0].size() <= 18 && [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17].all(i, i >= x.values[0].size() || (x.values[0].charAt(i) >= '0' && x.values[0].charAt(i) <= '9'))))",message="a requirement with operator Gt, Lt, Gte or Lte must have exactly one value, an integer of zero or more"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator != 'In' || !has(x.minValues) || (has(x.values) && x.values.size() >= x.minValues))",message="a requirement with operator In and minValues must have at least that many values"
	// +listType=atomic
	Requirements []Requirement `json:"requirements"`

	// Taints keep pods away that do not tolerate them.
	//
	// +optional
	Taints []corev1.Taint `json:"taints,omitempty"`

	// StartupTaints are on a node when it starts, and another controller removes them. Pods need
	// not tolerate them, and the node is not initialized before they are removed.
	//
	// +optional
	StartupTaints []corev1.Taint `json:"startupTaints,omitempty"`

	// NodeClassRef names the class that the nodes are launched from.
	//
	// +kubebuilder:validation:XValidation:rule="self.group == oldSelf.group",message="nodeClassRef.group is immutable, make a new NodePool instead"
	// +kubebuilder:validation:XValidation:rule="self.kind == oldSelf.kind",message="nodeClassRef.kind is immutable, make a new NodePool instead"
	NodeClassRef NodeClassReference `json:"nodeClassRef"`

	// ExpireAfter is the age at which a node is removed, whatever runs on it.
	//
	// +kubebuilder:default="720h"
	// +optional
	ExpireAfter DurationOrNever `json:"expireAfter,omitempty"`

	// TerminationGracePeriod is the longest time that a node may take to drain; after it the
	// remaining pods are deleted. If unset, a drain has no time limit.
	//
	// +optional
	TerminationGracePeriod Duration `json:"terminationGracePeriod,omitempty"`
}
