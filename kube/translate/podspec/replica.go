package podspec

import (
	"maps"

	corev1 "k8s.io/api/core/v1"
)

// isOwn reports whether a label distinguishes one replica, or one revision of a workload, from
// another.
func isOwn(label string) bool {
	switch label {
	case "pod-template-hash", "controller-revision-hash", "statefulset.kubernetes.io/pod-name", "apps.kubernetes.io/pod-index":
		return true
	}
	return false
}

// ReplicaLabels are the labels of a pod that all replicas of its workload share,
// those of other revisions too.
func ReplicaLabels(pod map[string]string) map[string]string {
	out := maps.Clone(pod)
	maps.DeleteFunc(out, func(label, _ string) bool { return isOwn(label) })
	return out
}

// AreReplicas reports whether pods of one namespace with these labels are
// replicas of one workload. Pods without labels are not.
func AreReplicas(a, b map[string]string) bool {
	return len(a) > 0 && covers(a, b) && covers(b, a)
}

func covers(all, some map[string]string) bool {
	for label, value := range some {
		if has, there := all[label]; !isOwn(label) && (!there || has != value) {
			return false
		}
	}
	return true
}

// IsUp reports whether the pod's kubelet says that it is ready, and it is not being deleted.
func IsUp(pod *corev1.Pod) bool {
	if pod.DeletionTimestamp != nil || IsTerminal(pod) || pod.Spec.NodeName == "" {
		return false
	}
	for _, c := range pod.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
