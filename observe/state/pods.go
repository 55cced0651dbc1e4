package state

import (
	"strings"

	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate"
)

const podsState = "karpenter_pods_state"

// eachPod reports where every pod is and how it does.
func (w *world) eachPod() {
	if !w.shown.wants(podsState) {
		return
	}
	byName := map[string]*corev1.Node{}
	for i := range w.nodes {
		byName[w.nodes[i].Name] = &w.nodes[i]
	}
	nowhere := &corev1.Node{}
	for p := range w.pods {
		n := byName[p.Spec.NodeName]
		managed := ""
		if n == nil {
			n = nowhere
		} else {
			managed = yes(w.ours[n.Spec.ProviderID])
		}
		w.set(podsState, 1, p.Name, p.Namespace, owner(p), p.Spec.NodeName, yes(p.Spec.NodeName != ""),
			translate.PoolCalled(n.Labels), n.Labels[api.LabelZone], n.Labels[api.LabelArch], n.Labels[api.LabelCapacityType],
			n.Labels[api.LabelInstanceType], string(p.Status.Phase), yes(ready(p)), managed)
	}
}

// owner is the address of the object that the pod belongs to in the API, as
// "/apis/apps/v1/namespaces/default/replicasets/web-7d4b"; empty without one.
func owner(p *corev1.Pod) string {
	if len(p.OwnerReferences) == 0 {
		return ""
	}
	o := p.OwnerReferences[0]
	if c := metav1.GetControllerOfNoCopy(p); c != nil {
		o = *c
	}
	return "/apis/" + o.APIVersion + "/namespaces/" + p.Namespace + "/" + strings.ToLower(o.Kind) + "s/" + o.Name
}

func ready(p *corev1.Pod) bool {
	for _, c := range p.Status.Conditions {
		if c.Type == corev1.PodReady {
			return c.Status == corev1.ConditionTrue
		}
	}
	return false
}
