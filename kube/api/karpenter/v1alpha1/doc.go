// Package v1alpha1 holds the resource NodeOverlay of the group karpenter.sh: corrections to the price
// and the capacity that Daemok assumes for instance types.
//
// The rules are written as markers beside the fields and become the CRD in kube/api/crds. The package
// applies no overlay to anything.
//
// +kubebuilder:object:generate=true
// +groupName=karpenter.sh
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/daemok/daemok/kube/api"
)

// GroupVersion is the group and version of the kind in this package.
var GroupVersion = schema.GroupVersion{Group: api.GroupKarpenter, Version: "v1alpha1"}

// AddToScheme makes the kind of this package known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &NodeOverlay{}, &NodeOverlayList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
