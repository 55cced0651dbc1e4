package kubelet

import (
	"fmt"
	"maps"
	"slices"
	"sync"

	corev1 "k8s.io/api/core/v1"
	resourcehelper "k8s.io/component-helpers/resource"
)

// rooms remembers what the admitted pods of each node ask for.
type rooms struct {
	mu     sync.Mutex                                // guards byNode
	byNode map[string]map[string]corev1.ResourceList // node, UID of pod, requests
}

// refusal is why a kubelet does not take a pod.
type refusal struct{ reason, message string }

// admit makes room for a pod, once; it returns why there is none. A pod that
// already started keeps its room whatever is left.
func (r *rooms) admit(node Node, pod *corev1.Pod) *refusal {
	if terminal(pod) {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	pods := r.byNode[node.Name]
	if _, in := pods[string(pod.UID)]; in {
		return nil
	}
	asks := requests(pod)
	if pod.Status.StartTime == nil && pod.DeletionTimestamp == nil {
		if why := lacks(node.Allocatable, pods, asks); why != nil {
			return why
		}
	}
	if pods == nil {
		pods = map[string]corev1.ResourceList{}
		r.byNode[node.Name] = pods
	}
	pods[string(pod.UID)] = asks
	return nil
}

// lacks names the first resource, by name, of which too little is left.
func lacks(allocatable corev1.ResourceList, pods map[string]corev1.ResourceList, asks corev1.ResourceList) *refusal {
	if allocatable == nil {
		return nil
	}
	if most := allocatable.Pods().Value(); int64(len(pods)) >= most {
		return &refusal{"OutOfpods", fmt.Sprintf("Node didn't have enough resource: pods, requested: 1, used: %d, capacity: %d", len(pods), most)}
	}
	for _, name := range slices.Sorted(maps.Keys(asks)) {
		asked := asks[name]
		if asked.IsZero() {
			continue
		}
		left := allocatable[name]
		for _, other := range pods {
			left.Sub(other[name])
		}
		if asked.Cmp(left) > 0 {
			return &refusal{"OutOf" + string(name), fmt.Sprintf("Node didn't have enough resource: %s, requested: %s, left: %s", name, asked.String(), left.String())}
		}
	}
	return nil
}

// observe keeps the room of an admitted pod true, in the order of the watch:
// the scheduler may fill it before a worker comes to the pod.
func (r *rooms) observe(pod *corev1.Pod) {
	if terminal(pod) {
		r.leave(pod)
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if _, in := r.byNode[pod.Spec.NodeName][string(pod.UID)]; in {
		r.byNode[pod.Spec.NodeName][string(pod.UID)] = requests(pod)
	}
}

func requests(pod *corev1.Pod) corev1.ResourceList {
	return resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
}

func (r *rooms) leave(pod *corev1.Pod) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byNode[pod.Spec.NodeName], string(pod.UID))
}

func (r *rooms) dropNode(node string) {
	r.mu.Lock()
	defer r.mu.Unlock()
	delete(r.byNode, node)
}

// refused is the status of a pod that the kubelet did not take.
func refused(pod *corev1.Pod, why refusal) corev1.PodStatus {
	status := *pod.Status.DeepCopy()
	status.Phase, status.Reason = corev1.PodFailed, why.reason
	status.Message = "Pod was rejected: " + why.message
	return status
}
