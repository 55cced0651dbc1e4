// Package v1 holds the resources NodePool and NodeClaim of the group karpenter.sh as they are served:
// every field, its default and the rules that an API server can check.
//
// The rules are written as markers beside the fields and become the CRDs in kube/api/crds; rules that
// need more than a marker are in kube/api/validate. The package converts nothing and decides nothing.
//
// +kubebuilder:object:generate=true
// +groupName=karpenter.sh
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/daemok/daemok/kube/api"
)

// GroupVersion is the group and version of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: api.GroupKarpenter, Version: "v1"}

// AddToScheme makes the kinds of this package known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &NodePool{}, &NodePoolList{}, &NodeClaim{}, &NodeClaimList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
