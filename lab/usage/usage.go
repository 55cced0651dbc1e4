// Package usage serves metrics.k8s.io/v1beta1: what pods and nodes use, as annotations of the pods
// say, so that horizontal autoscaling and kubectl top work although nothing really runs.
//
// It promises discovery, lists with label selectors and single objects in JSON, for pods that run and
// nodes that are ready. It measures nothing, stores nothing and checks no permissions: the API server
// in front of it does.
package usage

import (
	"cmp"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	metrics "k8s.io/metrics/pkg/apis/metrics/v1beta1"
)

// The annotations by which a pod says what it uses, all its containers
// together. Without one it uses 80 % of its request.
const (
	CPUUsage    = "lab.daemok.sh/cpu-usage"    // 300m
	MemoryUsage = "lab.daemok.sh/memory-usage" // 200Mi
)

const (
	window       = 15 * time.Second
	shareDefault = 80 // per cent of the request

	cpuOfNode    = 50        // millicores that a node uses by itself
	memoryOfNode = 300 << 20 // bytes, likewise
	cpuUnasked   = 1         // millicores of a container that requests none
	memoryAlways = 10 << 20  // bytes of a container that requests none
)

// ofPod returns the usage of a pod, and whether it runs and so has any.
func ofPod(pod *corev1.Pod, now time.Time) (metrics.PodMetrics, bool) {
	if pod.Status.Phase != corev1.PodRunning || len(pod.Spec.Containers) == 0 {
		return metrics.PodMetrics{}, false
	}
	m := metrics.PodMetrics{
		ObjectMeta: metav1.ObjectMeta{
			Name: pod.Name, Namespace: pod.Namespace, Labels: pod.Labels,
			CreationTimestamp: metav1.NewTime(now),
		},
		Timestamp: metav1.NewTime(now),
		Window:    metav1.Duration{Duration: window},
	}
	parts := int64(len(pod.Spec.Containers))
	for _, c := range pod.Spec.Containers {
		cpu := c.Resources.Requests.Cpu().MilliValue() * shareDefault / 100
		memory := c.Resources.Requests.Memory().Value() * shareDefault / 100
		cpu = annotated(pod, CPUUsage, cmp.Or(cpu, cpuUnasked), func(q resource.Quantity) int64 { return q.MilliValue() / parts })
		memory = annotated(pod, MemoryUsage, cmp.Or(memory, memoryAlways), func(q resource.Quantity) int64 { return q.Value() / parts })
		m.Containers = append(m.Containers, metrics.ContainerMetrics{Name: c.Name, Usage: amounts(cpu, memory)})
	}
	return m, true
}

// annotated reads the amount that an annotation names, else fallback.
func annotated(pod *corev1.Pod, key string, fallback int64, read func(resource.Quantity) int64) int64 {
	q, err := resource.ParseQuantity(pod.Annotations[key])
	if err != nil {
		return fallback
	}
	return read(q)
}

func amounts(cpuMilli, memoryBytes int64) corev1.ResourceList {
	return corev1.ResourceList{
		corev1.ResourceCPU:    *resource.NewMilliQuantity(cpuMilli, resource.DecimalSI),
		corev1.ResourceMemory: *resource.NewQuantity(memoryBytes, resource.BinarySI),
	}
}

// ofNode adds up a node and the pods on it; a node that is not ready reports
// nothing. No node uses more than it has.
func ofNode(node *corev1.Node, pods []*corev1.Pod, now time.Time) (metrics.NodeMetrics, bool) {
	if !slices.ContainsFunc(node.Status.Conditions, func(c corev1.NodeCondition) bool {
		return c.Type == corev1.NodeReady && c.Status == corev1.ConditionTrue
	}) {
		return metrics.NodeMetrics{}, false
	}
	cpu, memory := int64(cpuOfNode), int64(memoryOfNode)
	for _, pod := range pods {
		m, _ := ofPod(pod, now)
		for _, c := range m.Containers {
			cpu += c.Usage.Cpu().MilliValue()
			memory += c.Usage.Memory().Value()
		}
	}
	return metrics.NodeMetrics{
		ObjectMeta: metav1.ObjectMeta{Name: node.Name, Labels: node.Labels, CreationTimestamp: metav1.NewTime(now)},
		Timestamp:  metav1.NewTime(now),
		Window:     metav1.Duration{Duration: window},
		Usage: amounts(
			min(cpu, node.Status.Capacity.Cpu().MilliValue()),
			min(memory, node.Status.Capacity.Memory().Value())),
	}, true
}
