package podspec

import (
	"fmt"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	resourcehelper "k8s.io/component-helpers/resource"
)

// DaemonPod is the pod that a DaemonSet makes, as the API server would admit
// it: with the tolerations of its controller, with the defaults of the limit
// ranges of its namespace, and with the overhead and the node selector of its runtime
// class; nil where it has none. The tolerations of the class are left out: the controller
// makes pods only where the template tolerates the taints, before admission adds any. It
// is nil where the API server would refuse the pod.
func DaemonPod(ds *appsv1.DaemonSet, ranges []*corev1.LimitRange, class *nodev1.RuntimeClass) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{Namespace: ds.Namespace, Labels: ds.Spec.Template.Labels},
		Spec:       *ds.Spec.Template.Spec.DeepCopy(),
	}
	askByDefault(&pod.Spec, ranges)
	askTogether(pod)
	tolerateAsDaemon(&pod.Spec)
	if class != nil {
		tolerated := pod.Spec.Tolerations
		if err := run(&pod.Spec, class); err != nil {
			return nil
		}
		pod.Spec.Tolerations = tolerated
	}
	return pod
}

// Admit fills in what an API server adds to a pod that is created: what it
// asks for by the limit ranges of its namespace, the tolerations that every pod
// gets, and what its runtime class adds; nil where it has none. A pod that contradicts
// that class is refused.
func Admit(pod *corev1.Pod, ranges []*corev1.LimitRange, class *nodev1.RuntimeClass) error {
	askByDefault(&pod.Spec, ranges)
	askTogether(pod)
	for _, key := range everyPodTolerates {
		if !slices.ContainsFunc(pod.Spec.Tolerations, func(t corev1.Toleration) bool {
			return (t.Key == key || t.Key == "") && (t.Effect == corev1.TaintEffectNoExecute || t.Effect == "")
		}) {
			pod.Spec.Tolerations = append(pod.Spec.Tolerations, corev1.Toleration{
				Key: key, Operator: corev1.TolerationOpExists, Effect: corev1.TaintEffectNoExecute, TolerationSeconds: new(int64(300)),
			})
		}
	}
	if class == nil {
		return nil
	}
	return run(&pod.Spec, class)
}

// everyPodTolerates are the taints that a pod stands for a while without
// saying so.
var everyPodTolerates = []string{corev1.TaintNodeNotReady, corev1.TaintNodeUnreachable}

// askTogether makes a pod with limits of its own, beside those of its
// containers, ask for what these ask for, or else for the limits.
func askTogether(pod *corev1.Pod) {
	own := pod.Spec.Resources
	if own == nil || len(own.Limits) == 0 {
		return
	}
	merged := corev1.ResourceList{}
	for name, amount := range resourcehelper.AggregateContainerRequests(pod, resourcehelper.PodResourcesOptions{}) {
		if resourcehelper.IsSupportedPodLevelResource(name) {
			merged[name] = amount
		}
	}
	for name, amount := range own.Limits {
		if _, asked := merged[name]; !asked {
			merged[name] = amount
		}
	}
	maps.Copy(merged, own.Requests)
	own.Requests = merged
}

// askByDefault makes containers ask for their limits, and for what the limit
// ranges say, where they ask for nothing.
func askByDefault(spec *corev1.PodSpec, ranges []*corev1.LimitRange) {
	for _, c := range containersOf(spec) {
		ask(c, c.Resources.Limits)
		for _, r := range ranges {
			limit(c, r)
		}
	}
}

func containersOf(spec *corev1.PodSpec) []*corev1.Container {
	var out []*corev1.Container
	for i := range spec.InitContainers {
		out = append(out, &spec.InitContainers[i])
	}
	for i := range spec.Containers {
		out = append(out, &spec.Containers[i])
	}
	return out
}

// ask makes a container ask for amounts where it asks for none of its own.
func ask(c *corev1.Container, amounts corev1.ResourceList) {
	merged := corev1.ResourceList{}
	maps.Copy(merged, amounts)
	maps.Copy(merged, c.Resources.Requests)
	c.Resources.Requests = merged
}

func limit(c *corev1.Container, r *corev1.LimitRange) {
	for _, item := range r.Spec.Limits {
		if item.Type == corev1.LimitTypeContainer {
			ask(c, item.DefaultRequest)
		}
	}
}

// tolerateAsDaemon adds what the DaemonSet's controller lets its pods stand.
func tolerateAsDaemon(spec *corev1.PodSpec) {
	stand := func(key string, effect corev1.TaintEffect) {
		spec.Tolerations = append(spec.Tolerations, corev1.Toleration{Key: key, Operator: corev1.TolerationOpExists, Effect: effect})
	}
	stand(corev1.TaintNodeNotReady, corev1.TaintEffectNoExecute)
	stand(corev1.TaintNodeUnreachable, corev1.TaintEffectNoExecute)
	for _, key := range []string{corev1.TaintNodeDiskPressure, corev1.TaintNodeMemoryPressure, corev1.TaintNodePIDPressure, corev1.TaintNodeUnschedulable} {
		stand(key, corev1.TaintEffectNoSchedule)
	}
	if spec.HostNetwork {
		stand(corev1.TaintNodeNetworkUnavailable, corev1.TaintEffectNoSchedule)
	}
}

// run adds the overhead of a runtime class, and where it runs. A pod that selects other
// nodes is refused, as the API server does.
func run(spec *corev1.PodSpec, class *nodev1.RuntimeClass) error {
	if class.Overhead != nil {
		spec.Overhead = class.Overhead.PodFixed
	}
	if class.Scheduling == nil {
		return nil
	}
	merged := maps.Clone(spec.NodeSelector)
	for _, key := range slices.Sorted(maps.Keys(class.Scheduling.NodeSelector)) {
		value := class.Scheduling.NodeSelector[key]
		if own, set := merged[key]; set && own != value {
			return fmt.Errorf("spec.nodeSelector: %s=%s contradicts scheduling.nodeSelector of RuntimeClass %q, which is %s=%s: select what the class does, or leave it out",
				key, own, class.Name, key, value)
		}
		if merged == nil {
			merged = map[string]string{}
		}
		merged[key] = value
	}
	spec.NodeSelector = merged
	spec.Tolerations = append(spec.Tolerations, class.Scheduling.Tolerations...)
	return nil
}
