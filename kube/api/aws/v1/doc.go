// Package v1 holds the resource EC2NodeClass of the group karpenter.k8s.aws: a user's AWS settings for
// nodes.
//
// The rules are written as markers beside the fields and become the CRD in kube/api/crds; rules that
// need more than a marker are in kube/api/validate. The package calls no cloud.
//
// +kubebuilder:object:generate=true
// +groupName=karpenter.k8s.aws
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/daemok/daemok/kube/api"
)

// GroupVersion is the group and version of the kind in this package.
var GroupVersion = schema.GroupVersion{Group: api.GroupAWS, Version: "v1"}

// Kind is the kind a NodeClassReference names.
const Kind = "EC2NodeClass"

// AddToScheme makes the kind of this package known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &EC2NodeClass{}, &EC2NodeClassList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
