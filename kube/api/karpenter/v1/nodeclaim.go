package v1

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
)

// NodeClaim is the durable request for one instance and, after the launch, its record.
//
// +kubebuilder:object:root=true
// +kubebuilder:resource:path=nodeclaims,scope=Cluster,categories=karpenter
// +kubebuilder:subresource:status
// +kubebuilder:printcolumn:name="Type",type="string",JSONPath=".metadata.labels.node\\.kubernetes\\.io/instance-type",description="Instance type"
// +kubebuilder:printcolumn:name="Capacity",type="string",JSONPath=".metadata.labels.karpenter\\.sh/capacity-type",description="Capacity type of the instance"
// +kubebuilder:printcolumn:name="Zone",type="string",JSONPath=".metadata.labels.topology\\.kubernetes\\.io/zone",description="Zone of the instance"
// +kubebuilder:printcolumn:name="Node",type="string",JSONPath=".status.nodeName",description="Node the instance became"
// +kubebuilder:printcolumn:name="Ready",type="string",JSONPath=".status.conditions[?(@.type==\"Ready\")].status",description="Whether the node is initialized"
// +kubebuilder:printcolumn:name="Age",type="date",JSONPath=".metadata.creationTimestamp"
// +kubebuilder:printcolumn:name="ImageID",type="string",JSONPath=".status.imageID",priority=1,description="Image the instance runs"
// +kubebuilder:printcolumn:name="ID",type="string",JSONPath=".status.providerID",priority=1,description="Name of the instance at the cloud"
// +kubebuilder:printcolumn:name="NodePool",type="string",JSONPath=".metadata.labels.karpenter\\.sh/nodepool",priority=1,description="Pool the claim belongs to"
// +kubebuilder:printcolumn:name="NodeClass",type="string",JSONPath=".spec.nodeClassRef.name",priority=1,description="Class the instance was made with"
// +kubebuilder:printcolumn:name="Drifted",type="string",JSONPath=".status.conditions[?(@.type==\"Drifted\")].status",priority=1,description="Whether the instance differs from what its pool asks for now"
type NodeClaim struct {
	metav1.TypeMeta   `json:",inline"`
	metav1.ObjectMeta `json:"metadata,omitempty"`

	// +kubebuilder:validation:XValidation:rule="self == oldSelf",message="spec is immutable, make a new NodeClaim instead"
	Spec   NodeClaimSpec   `json:"spec"`
	Status NodeClaimStatus `json:"status,omitempty"`
}

// NodeClaimList is a list of claims.
//
// +kubebuilder:object:root=true
type NodeClaimList struct {
	metav1.TypeMeta `json:",inline"`
	metav1.ListMeta `json:"metadata,omitempty"`

	Items []NodeClaim `json:"items"`
}

// NodeClaimSpec is the request for one instance. It never changes.
type NodeClaimSpec struct {
	// Taints keep pods away that do not tolerate them.
	//
	// +optional
	Taints []corev1.Taint `json:"taints,omitempty"`

	// StartupTaints are on the node when it starts, and another controller removes them. The node
	// is not initialized before they are removed.
	//
	// +optional
	StartupTaints []corev1.Taint `json:"startupTaints,omitempty"`

	// Requirements limit which instance may be launched.
	//
	// +kubebuilder:validation:MaxItems=100
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator != 'In' || (has(x.values) && x.values.size() > 0))",message="a requirement with operator In must have at least one value"
	// +kubebuilder:validation:XValidation:rule="self.all(x, !(x.operator in ['Gt', 'Lt', 'Gte', 'Lte']) || (has(x.values) && x.values.size() == 1 && x.values[0].size() > 0 && x.values[0].size() <= 18 && [0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15,16,17].all(i, i >= x.values[0].size() || (x.values[0].charAt(i) >= '0' && x.values[0].charAt(i) <= '9'))))",message="a requirement with operator Gt, Lt, Gte or Lte must have exactly one value, an integer of zero or more"
	// +kubebuilder:validation:XValidation:rule="self.all(x, x.operator != 'In' || !has(x.minValues) || (has(x.values) && x.values.size() >= x.minValues))",message="a requirement with operator In and minValues must have at least that many values"
	// +listType=atomic
	Requirements []Requirement `json:"requirements"`

	// Resources are the resources that the claim was created for.
	//
	// +optional
	Resources ResourceRequirements `json:"resources,omitzero"`

	// NodeClassRef names the class that the instance is launched from.
	NodeClassRef NodeClassReference `json:"nodeClassRef"`

	// TerminationGracePeriod is the longest time that the node may take to drain; after it the
	// remaining pods are deleted. If unset, a drain has no time limit.
	//
	// +optional
	TerminationGracePeriod Duration `json:"terminationGracePeriod,omitempty"`

	// ExpireAfter is the age at which the node is removed, whatever runs on it.
	//
	// +kubebuilder:default="720h"
	// +optional
	ExpireAfter DurationOrNever `json:"expireAfter,omitempty"`
}

// ResourceRequirements are the resources a claim was sized for.
type ResourceRequirements struct {
	// Requests are the sum of the requests of pods and DaemonSets; no instance with less is
	// launched.
	//
	// +optional
	Requests corev1.ResourceList `json:"requests,omitempty"`
}
