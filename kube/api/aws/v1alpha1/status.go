package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
)

// AWSNodeTemplateStatus is what was last found on AWS for a template or for
// the inline block of a Provisioner. Its conditions are those of an
// EC2NodeClass.
type AWSNodeTemplateStatus struct {
	// Subnets that the selector selects, the one with the most free addresses first.
	//
	// +optional
	Subnets []awsv1.Subnet `json:"subnets,omitempty"`

	// SecurityGroups that the selector selects.
	//
	// +optional
	SecurityGroups []awsv1.SecurityGroup `json:"securityGroups,omitempty"`

	// AMIs that the selector selects, or those of the family, the newest first.
	//
	// +optional
	AMIs []awsv1.AMI `json:"amis,omitempty"`

	// InstanceProfile of the nodes.
	//
	// +optional
	InstanceProfile string `json:"instanceProfile,omitempty"`

	// Conditions say whether the settings may be used, and if not, why.
	//
	// +optional
	Conditions []metav1.Condition `json:"conditions,omitempty"`
}

// GetConditions returns the template's conditions; the slice is its own.
func (t *AWSNodeTemplate) GetConditions() []metav1.Condition { return t.Status.Conditions }

// SetConditions replaces the template's conditions.
func (t *AWSNodeTemplate) SetConditions(conditions []metav1.Condition) {
	t.Status.Conditions = conditions
}

// ReadyDependsOn names the conditions that must be true for Ready. A launch
// template of the user's own brings image, security groups and instance
// profile with it.
func (t *AWSNodeTemplate) ReadyDependsOn() []string {
	if t.Spec.LaunchTemplate != nil {
		return []string{awsv1.ClassSubnetsReady, awsv1.ClassValidationSucceeded}
	}
	return []string{
		awsv1.ClassAMIsReady, awsv1.ClassSubnetsReady, awsv1.ClassSecurityGroupsReady, awsv1.ClassInstanceProfileReady,
		awsv1.ClassValidationSucceeded,
	}
}
