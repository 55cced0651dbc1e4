package state

import (
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/resource"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/daemok/daemok/kube/translate/podspec"
	"github.com/daemok/daemok/observe"
)

// loads are what the pods of one node ask for and may use.
type loads struct{ podRequests, podLimits, daemonRequests, daemonLimits corev1.ResourceList }

// amounts are what one pod asks for and may use.
type amounts struct{ requests, limits corev1.ResourceList }

// The metrics of nodes.
const (
	allocatable    = "karpenter_nodes_allocatable"
	systemOverhead = "karpenter_nodes_system_overhead"
	podRequests    = "karpenter_nodes_total_pod_requests"
	podLimits      = "karpenter_nodes_total_pod_limits"
	daemonRequests = "karpenter_nodes_total_daemon_requests"
	daemonLimits   = "karpenter_nodes_total_daemon_limits"
	lifetime       = "karpenter_nodes_current_lifetime_seconds"
)

func namesOfNodes() []string {
	return []string{allocatable, systemOverhead, podRequests, podLimits, daemonRequests, daemonLimits, lifetime}
}

// eachNode reports what every node has, and what its pods take of it.
func (w *world) eachNode() {
	if !slices.ContainsFunc(namesOfNodes(), w.shown.wants) {
		return
	}
	if w.loads == nil {
		w.loads = w.loadsOfNodes()
	}
	for i := range w.nodes {
		w.node(&w.nodes[i], w.loads[w.nodes[i].Name])
	}
}

func (w *world) loadsOfNodes() map[string]*loads {
	byNode := map[string]*loads{}
	for i := range w.nodes {
		byNode[w.nodes[i].Name] = &loads{corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}, corev1.ResourceList{}}
	}
	known := map[*corev1.Container]*amounts{}
	for p := range w.pods {
		if l := byNode[p.Spec.NodeName]; l != nil && !podspec.IsTerminal(p) {
			l.add(p, amountsOf(p, known))
		}
	}
	return byNode
}

// amountsOf adds up a pod's containers. Those that a cache shares among pods have shared the rest of the spec too (see
// strip.Sharing), and are added up once, unless their states say otherwise.
func amountsOf(p *corev1.Pod, known map[*corev1.Container]*amounts) *amounts {
	alone := len(p.Spec.Containers) == 0 || len(p.Status.ContainerStatuses)+len(p.Status.InitContainerStatuses) > 0 || p.Status.Resources != nil
	if !alone {
		if a := known[&p.Spec.Containers[0]]; a != nil {
			return a
		}
	}
	options := resourcehelper.PodResourcesOptions{UseStatusResources: true}
	a := &amounts{resourcehelper.PodRequests(p, options), resourcehelper.PodLimits(p, options)}
	a.requests[corev1.ResourcePods] = resource.MustParse("1")
	if !alone {
		known[&p.Spec.Containers[0]] = a
	}
	return a
}

func (l *loads) add(p *corev1.Pod, a *amounts) {
	if podspec.IsDaemon(p) {
		plus(l.daemonRequests, a.requests)
		plus(l.daemonLimits, a.limits)
		return
	}
	plus(l.podRequests, a.requests)
	plus(l.podLimits, a.limits)
}

func plus(sum, more corev1.ResourceList) {
	for name, amount := range more {
		total := sum[name]
		total.Add(amount)
		sum[name] = total
	}
}

func (w *world) node(n *corev1.Node, l *loads) {
	labels := []string{"", n.Name, string(n.Status.Phase), yes(w.ours[n.Spec.ProviderID])} // the first is for the resource
	for _, key := range nodeLabelKeys {
		labels = append(labels, n.Labels[key])
	}
	for _, amounts := range []struct {
		metric string
		list   corev1.ResourceList
	}{
		{allocatable, n.Status.Allocatable}, {systemOverhead, w.overhead(n)}, {podRequests, l.podRequests}, {podLimits, l.podLimits},
		{daemonRequests, l.daemonRequests}, {daemonLimits, l.daemonLimits},
	} {
		if !w.shown.wants(amounts.metric) {
			continue
		}
		for name, amount := range amounts.list {
			labels[0] = string(name)
			w.set(amounts.metric, amount.AsApproximateFloat64(), labels...)
		}
	}
	w.set(lifetime, w.now.Sub(n.CreationTimestamp.Time).Seconds(), labels[1:]...)
}

// overhead is what a node has and pods cannot; nothing where it is not wanted.
func (w *world) overhead(n *corev1.Node) corev1.ResourceList {
	if !w.shown.wants(systemOverhead) {
		return nil
	}
	out := corev1.ResourceList{}
	for name, capacity := range n.Status.Capacity {
		if free, there := n.Status.Allocatable[name]; there {
			out[name] = minus(capacity, free)
		}
	}
	return out
}

func minus(a, b resource.Quantity) resource.Quantity {
	out := a.DeepCopy()
	out.Sub(b)
	return out
}

// nodeLabelKeys are those that follow the other labels. It is never written.
var nodeLabelKeys = observe.NodeLabelKeys()
