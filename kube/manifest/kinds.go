package manifest

import (
	"errors"
	"fmt"

	appsv1 "k8s.io/api/apps/v1"
	autoscalingv1 "k8s.io/api/autoscaling/v1"
	autoscalingv2 "k8s.io/api/autoscaling/v2"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	networkingv1 "k8s.io/api/networking/v1"
	nodev1 "k8s.io/api/node/v1"
	policyv1 "k8s.io/api/policy/v1"
	rbacv1 "k8s.io/api/rbac/v1"
	resourcev1 "k8s.io/api/resource/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/api"
	requestv1 "github.com/daemok/daemok/kube/api/autoscaling/v1"
	bufferv1alpha1 "github.com/daemok/daemok/kube/api/autoscaling/v1alpha1"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	awsv1 "github.com/daemok/daemok/kube/api/aws/v1"
	awsv1alpha1 "github.com/daemok/daemok/kube/api/aws/v1alpha1"
	"github.com/daemok/daemok/kube/api/daemok/v1alpha1"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	overlays "github.com/daemok/daemok/kube/api/karpenter/v1alpha1"
	"github.com/daemok/daemok/kube/api/karpenter/v1alpha5"
)

type scope int

const (
	namespaced scope = iota
	wide             // of the whole cluster
)

// understood lists the kinds that change a plan, for errors.
func understood() string {
	return "a plan depends on Pod, Deployment, ReplicaSet, StatefulSet, Job, DaemonSet, NodePool, NodeOverlay, " +
		"EC2NodeClass, Provisioner, AWSNodeTemplate, Namespace, Service, PersistentVolumeClaim, PersistentVolume, " +
		"StorageClass, PriorityClass, LimitRange, RuntimeClass, PodDisruptionBudget, DisruptionPolicy, " +
		"CapacityBuffer, CapacityQuota, ProvisioningRequest, PodTemplate, DeviceClass, ResourceClaimTemplate, " +
		"ResourceClaim and the ConfigMaps " + api.ConfigMapFreeze + " and " + api.ConfigMapCommitments
}

// scopeOf is where objects of a kind live. A kind that nothing here reads is an
// error.
func scopeOf(o client.Object) (scope, error) {
	switch o.(type) {
	case *corev1.Pod, *appsv1.Deployment, *appsv1.ReplicaSet, *appsv1.StatefulSet, *batchv1.Job, *appsv1.DaemonSet,
		*corev1.Service, *corev1.PersistentVolumeClaim, *corev1.LimitRange, *policyv1.PodDisruptionBudget,
		*corev1.PodTemplate, *v1beta1.CapacityBuffer, *bufferv1alpha1.CapacityBuffer,
		*requestv1.ProvisioningRequest,
		*resourcev1.ResourceClaimTemplate, *resourcev1.ResourceClaim:
		return namespaced, nil
	case *karpv1.NodePool, *awsv1.EC2NodeClass, *v1alpha5.Provisioner, *awsv1alpha1.AWSNodeTemplate, *corev1.Namespace, *corev1.PersistentVolume, *storagev1.StorageClass,
		*schedulingv1.PriorityClass, *nodev1.RuntimeClass, *v1alpha1.DisruptionPolicy, *overlays.NodeOverlay,
		*resourcev1.DeviceClass, *v1beta1.CapacityQuota:
		return wide, nil
	}
	if scope, aside := aside(o); aside {
		return scope, nil
	}
	kind := o.GetObjectKind().GroupVersionKind()
	return 0, fmt.Errorf("kind %s of %s is not read: leave it out; %w", kind.Kind, kind.GroupVersion(), errors.New(understood()))
}

// aside reports whether a kind is one that often stands beside workloads and
// that no plan depends on.
func aside(o client.Object) (scope, bool) {
	switch o.(type) {
	case *corev1.ConfigMap, *corev1.Secret, *corev1.ServiceAccount, *corev1.ResourceQuota, *networkingv1.Ingress, *networkingv1.NetworkPolicy,
		*autoscalingv1.HorizontalPodAutoscaler, *autoscalingv2.HorizontalPodAutoscaler,
		*rbacv1.Role, *rbacv1.RoleBinding, *batchv1.CronJob:
		return namespaced, true
	case *rbacv1.ClusterRole, *rbacv1.ClusterRoleBinding, *networkingv1.IngressClass:
		return wide, true
	}
	return 0, false
}
