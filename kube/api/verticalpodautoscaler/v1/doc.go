// Package v1 holds the resource VerticalPodAutoscaler of the group autoscaling.k8s.io: what the Vertical Pod Autoscaler
// has new pods of a workload request. It has the fields alone that Daemok reads; the kind belongs to the Vertical Pod
// Autoscaler, which installs its definition.
//
// +kubebuilder:object:generate=true
package v1

import (
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"

	"github.com/daemok/daemok/kube/api"
)

// GroupVersion is the group and version of the kind in this package.
var GroupVersion = schema.GroupVersion{Group: api.GroupVerticalPodAutoscaler, Version: "v1"}

// AddToScheme makes the kind of this package known to a scheme.
func AddToScheme(s *runtime.Scheme) error {
	s.AddKnownTypes(GroupVersion, &VerticalPodAutoscaler{}, &VerticalPodAutoscalerList{})
	metav1.AddToGroupVersion(s, GroupVersion)
	return nil
}
