package v1alpha5

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
)

// ProvisionerStatus is what was last observed of a Provisioner. Its
// conditions are those of a NodePool.
type ProvisionerStatus struct {
	// Resources are what the Provisioner's nodes have together.
	//
	// +optional
	Resources corev1.ResourceList `json:"resources,omitempty"`

	// LastScaleTime is when a launch was last requested.
	//
	// +optional
	LastScaleTime *metav1.Time `json:"lastScaleTime,omitempty"`

	// Nodes is the number of the Provisioner's nodes.
	//
	// +optional
	Nodes int64 `json:"nodes,omitempty"`

	// NodesOfOlderSpec is how many of them were launched from another spec of the Provisioner or
	// of its AWSNodeTemplate than the current one. They stay: an edit replaces no node.
	//
	// +optional
	NodesOfOlderSpec int64 `json:"nodesOfOlderSpec,omitempty"`

	// Requirements are the requirements in effect: those of the spec, and defaults for the rest.
	//
	// +listType=atomic
	// +optional
	Requirements []corev1.NodeSelectorRequirement `json:"requirements,omitempty"`

	// ScaleDown says when unneeded nodes are removed.
	//
	// +optional
	ScaleDown string `json:"scaleDown,omitempty"`

	// TemplateHash is a fingerprint of the settings of the AWSNodeTemplate that nodes are launched
	// from. It does not include what its selectors select.
	//
	// +optional
	TemplateHash string `json:"templateHash,omitempty"`

	// Provider is what was found on AWS for spec.provider.
	//
	// +optional
	Provider *awsv1alpha1.AWSNodeTemplateStatus `json:"provider,omitempty"`

	// Conditions say whether the Provisioner may be used, and if not, why.
	//
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// GetConditions returns the Provisioner's conditions; the slice is its own.
func (p *Provisioner) GetConditions() []metav1.Condition { return p.Status.Conditions }

// SetConditions replaces the Provisioner's conditions.
func (p *Provisioner) SetConditions(conditions []metav1.Condition) { p.Status.Conditions = conditions }

// ReadyDependsOn names the conditions that must be true for Ready.
func (*Provisioner) ReadyDependsOn() []string {
	return []string{karpv1.NodePoolValidationSucceeded, karpv1.NodePoolClassReady}
}
