package state

import (
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/observe"
)

// loads are what the pods of one node ask for and may use.
type loads struct{ podRequests, podLimits, daemonRequests, daemonLimits corev1.ResourceList }

// eachNode tells what every node has, and what its pods take of it.
func (w *world) eachNode() {
	byNode := map[string]*loads{}
	for i := range w.nodes {
		byNode[w.nodes[i].Name] = &loads{corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}}
	}
	for i := range w.pods {
		if l := byNode[w.pods[i].Spec.NodeName]; l != nil && !translate.IsTerminal(&w.pods[i]) {
			l.add(&w.pods[i])
		}
	}
	for i := range w.nodes {
		w.node(&w.nodes[i], byNode[w.nodes[i].Name])
	}
}

func (l *loads) add(p *corev1.Pod) {
	options := resourcehelper.PodResourcesOptions{UseStatusResources: true}
	requests, limits := resourcehelper.PodRequests(p, options), resourcehelper.PodLimits(p, options)
	requests[corev1.ResourcePods] = resource.MustParse("1")
	if translate.IsDaemon(p) {
		plus(l.daemonRequests, requests)
		plus(l.daemonLimits, limits)
		return
	}
	plus(l.podRequests, requests)
	plus(l.podLimits, limits)
}

func plus(sum, more corev1.ResourceList) {
	for name, amount := range more {
		total := sum[name]
		total.Add(amount)
		sum[name] = total
	}
}

func (w *world) node(n *corev1.Node, l *loads) {
	labels := []string{n.Name, string(n.Status.Phase), yes(w.ours[n.Spec.ProviderID])}
	for _, key := range nodeLabelKeys {
		labels = append(labels, n.Labels[key])
	}
	overhead := corev1.ResourceList{}
	for name, capacity := range n.Status.Capacity {
		if free, there := n.Status.Allocatable[name]; there {
			overhead[name] = minus(capacity, free)
		}
	}
	for _, amounts := range []struct {
		metric string
		list   corev1.ResourceList
	}{
		{"karpenter_nodes_allocatable", n.Status.Allocatable},
		{"karpenter_nodes_system_overhead", overhead},
		{"karpenter_nodes_total_pod_requests", l.podRequests},
		{"karpenter_nodes_total_pod_limits", l.podLimits},
		{"karpenter_nodes_total_daemon_requests", l.daemonRequests},
		{"karpenter_nodes_total_daemon_limits", l.daemonLimits},
	} {
		for _, name := range slices.Sorted(maps.Keys(amounts.list)) {
			amount := amounts.list[name]
			w.set(amounts.metric, amount.AsApproximateFloat64(), slices.Concat([]string{string(name)}, labels)...)
		}
	}
	w.set("karpenter_nodes_current_lifetime_seconds", w.now.Sub(n.CreationTimestamp.Time).Seconds(), labels...)
}

func minus(a, b resource.Quantity) resource.Quantity {
	out := a.DeepCopy()
	out.Sub(b)
	return out
}

// nodeLabelKeys are those that follow the other labels. It is never written.
var nodeLabelKeys = observe.NodeLabelKeys()
