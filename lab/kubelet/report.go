package kubelet

import (
	"fmt"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/lab/event"
)

// word is what a kubelet reports one container of a pod.
type word struct{ reason, message string }

// starting is what it reports a container that starts.
func starting(c corev1.Container) []word {
	return []word{
		{"Pulled", fmt.Sprintf("Container image %q already present on machine and can be accessed by the pod", c.Image)},
		{"Created", "Container created"},
		{"Started", "Container started"},
	}
}

// killing is what it reports a container that is asked to end.
func killing(c corev1.Container) []word {
	return []word{{"Killing", "Stopping container " + c.Name}}
}

// reportContainers reports to the same every container of a pod.
func (h *Hub) reportContainers(node Node, pod *corev1.Pod, words func(corev1.Container) []word) {
	for _, c := range pod.Spec.Containers {
		about := podReference(pod)
		about.FieldPath = "spec.containers{" + c.Name + "}"
		for _, w := range words(c) {
			h.options.Events.Report(node.Client, event.Reported{About: about, Node: node.Name, Reason: w.reason, Message: w.message})
		}
	}
}

func podReference(pod *corev1.Pod) corev1.ObjectReference {
	return corev1.ObjectReference{
		APIVersion: "v1", Kind: "Pod", Namespace: pod.Namespace, Name: pod.Name, UID: pod.UID, ResourceVersion: pod.ResourceVersion,
	}
}

// begunToStop reports once that a pod that runs was asked to stop.
func (h *Hub) begunToStop(key string, pod *corev1.Pod) bool {
	if pod.DeletionTimestamp == nil || pod.Status.Phase != corev1.PodRunning {
		return false
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	s, ok := h.seen[key]
	if !ok || s.uid != string(pod.UID) || s.stopping {
		return false
	}
	s.stopping = true
	h.seen[key] = s
	return true
}
