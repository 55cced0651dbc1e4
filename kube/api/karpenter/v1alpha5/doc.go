// Package v1alpha5 holds the resource Provisioner of the group karpenter.sh,
// the older generation's pool of nodes.
//
// The rules are written as markers beside the fields and become the CRD in
// kube/api/crds; rules that need more than that are in kube/api/validate.
// Nothing has a default in the schema: what is left out stays left out, and
// the functions of this package say what it means. The package converts
// nothing and decides nothing.
//
// +kubebuilder:object:generate=true
// +groupName=karpenter.sh
package v1alpha5

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/daemok/daemok/kube/api"
)

// GroupVersion is the group and version of the kind in this package.
var GroupVersion = schema.GroupVersion{Group: api.GroupKarpenter, Version: "v1alpha5"}

// AddToScheme makes the kind of this package known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &Provisioner{}, &ProvisionerList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
