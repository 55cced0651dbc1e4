// Package v1alpha1 holds the resource AWSNodeTemplate of the group karpenter.k8s.aws, the v1alpha1
// settings for nodes on AWS, and the same settings as a Provisioner may have them inline.
//
// The rules are written as markers beside the fields and become the CRDs in kube/api/crds; rules that
// need more than a marker are in kube/api/validate. Nothing has a default in the schema: a field that
// is left out stays left out, and the code that reads it gives it its meaning. The package calls no
// cloud.
//
// +kubebuilder:object:generate=true
// +groupName=karpenter.k8s.aws
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/daemok/daemok/kube/api"
)

// GroupVersion is the group and version of the kind in this package.
var GroupVersion = schema.GroupVersion{Group: api.GroupAWS, Version: "v1alpha1"}

// Kind is the kind that a Provisioner's providerRef names.
const Kind = "AWSNodeTemplate"

// AddToScheme makes the kind of this package known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &AWSNodeTemplate{}, &AWSNodeTemplateList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
