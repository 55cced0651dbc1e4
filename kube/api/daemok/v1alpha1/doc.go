// Package v1alpha1 holds the resource DisruptionPolicy of Daemok's own group, daemok.sh: when nodes of
// pools may be disrupted voluntarily, for which savings, and up to which losses. It is a kind of its
// own, so that no field is added to resources that other programs serve too.
//
// The rules are written as markers beside the fields and become the CRD in kube/api/crds.
// kube/translate reads what a policy means for a pool.
//
// +kubebuilder:object:generate=true
// +groupName=daemok.sh
package v1alpha1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/daemok/daemok/kube/api"
)

// GroupVersion is the group and version of the kind in this package.
var GroupVersion = schema.GroupVersion{Group: api.GroupDaemok, Version: "v1alpha1"}

// AddToScheme makes the kind of this package known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &DisruptionPolicy{}, &DisruptionPolicyList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
