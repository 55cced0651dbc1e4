package podspec

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/translate"
)

// IsAsMade reports whether the pod asks for what it did when it was made: nothing of its
// spec has been changed since, which its node is none of.
func IsAsMade(pod *corev1.Pod) bool { return pod.Generation <= 1 }

// TemplateRequests is what kube-scheduler reserves for a pod of a template, as far as
// that says it: LimitRanges, a RuntimeClass and webhooks may ask for more.
func TemplateRequests(template *corev1.PodTemplateSpec) quantity.Resources {
	pod := &corev1.Pod{Spec: *template.Spec.DeepCopy()}
	askByDefault(&pod.Spec, nil)
	askTogether(pod)
	return PodRequests(pod)
}

// PodRequests is what kube-scheduler reserves for a pod: containers, init
// containers and sidecars by their rules, pod-level requests, overhead, and
// during an in-place resize the larger of what was asked and what is held,
// or what is held alone where the node says it can never give more.
// One pod slot is added. Containers without requests but with limits ask for
// their limits, as the API server defaults them. Left out are extended resources
// that are named after DeviceClasses, which DeviceUses lists: no node says that it
// has any.
func PodRequests(pod *corev1.Pod) quantity.Resources {
	requests := allRequests(pod)
	of := func(e quantity.Extended) bool { return isOfClass(e.Name) }
	if slices.ContainsFunc(requests.Extended, of) {
		requests.Extended = slices.DeleteFunc(slices.Clone(requests.Extended), of)
	}
	return requests
}

func allRequests(pod *corev1.Pod) quantity.Resources {
	requests := translate.Resources(resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{
		UseStatusResources: pod.Spec.NodeName != "",
		InPlacePodLevelResourcesVerticalScalingEnabled: true,
	}))
	requests.Pods = 1
	return requests
}
