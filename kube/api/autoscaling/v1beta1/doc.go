// Package v1beta1 holds the resources CapacityBuffer and CapacityQuota of the group autoscaling.x-k8s.io:
// capacity kept free for pods that may come, and limits of what nodes may come to together.
//
// The rules are written as markers beside the fields and become the CRD in kube/api/crds. The package
// neither computes the size of a buffer nor adds up what nodes have.
//
// +kubebuilder:object:generate=true
// +groupName=autoscaling.x-k8s.io
package v1beta1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/daemok/daemok/kube/api"
)

// GroupVersion is the group and version of the kinds in this package.
var GroupVersion = schema.GroupVersion{Group: api.GroupAutoscaling, Version: "v1beta1"}

// AddToScheme makes the kinds of this package known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &CapacityBuffer{}, &CapacityBufferList{}, &CapacityQuota{}, &CapacityQuotaList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
