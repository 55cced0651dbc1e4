package mark

import (
	"strings"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/kube/api"
)

// ClusterAutoscaler is true where what users wrote for Cluster Autoscaler counts: its annotations of pods and nodes,
// and its startup taints.
type ClusterAutoscaler bool

// KeepsPod reports whether a pod is not to be evicted: safe-to-evict is "false". Of pods that end with their node that
// says nothing.
func (on ClusterAutoscaler) KeepsPod(pod *corev1.Pod) bool {
	return bool(on) && pod.Annotations[api.AnnotationSafeToEvict] == "false"
}

// MayEnd reports whether a pod may be evicted though nothing does its work again: safe-to-evict is "true". The other
// reasons for which that is written keep no node here: local storage, or a pod of kube-system.
func (on ClusterAutoscaler) MayEnd(pod *corev1.Pod) bool {
	return bool(on) && pod.Annotations[api.AnnotationSafeToEvict] == "true"
}

// KeepsNode reports whether a node is to stay: scale-down-disabled is "true".
func (on ClusterAutoscaler) KeepsNode(node *corev1.Node) bool {
	return bool(on) && node.Annotations[api.AnnotationScaleDownDisabled] == "true"
}

// Starts reports whether nodes are without the taint once they have started, so that pods need not tolerate it.
func (on ClusterAutoscaler) Starts(t corev1.Taint) bool {
	return bool(on) && (strings.HasPrefix(t.Key, api.PrefixStartupTaint) || strings.HasPrefix(t.Key, api.PrefixIgnoreTaint))
}
