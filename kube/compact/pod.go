package compact

import (
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/runtime"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/apimachinery/pkg/types"
)

// pod is a Pod in an informer's store: what is its own, and what it has in common with others. It is never written.
type pod struct {
	name, namespace, uid, version, node string
	labels, annotations                 map[string]string
	owners                              []metav1.OwnerReference
	at                                  [2 + timesOf]int64 // created, started, and of the conditions the last transitions, in seconds since 1970; 0: never
	rare                                *rare              // nil: nothing
	common                              *corev1.Pod        // without all of that
}

// timesOf is of how many conditions the times are kept beside what pods have in common: a pod that runs has PodScheduled
// and Ready once it is stripped. One with more conditions has its times to itself, and little in common.
const timesOf = 2

// rare is what few pods have: those of StatefulSets and DaemonSets.
type rare struct {
	hostname string
	volumes  []corev1.Volume
	affinity *corev1.Affinity
}

// packer makes pods compact. It is safe for concurrent use.
type packer struct{ common Common }

// pack takes p apart, which must not be used any more. The API keeps times in whole seconds.
func (k *packer) pack(p *corev1.Pod) *pod {
	out := &pod{name: p.Name, namespace: p.Namespace, uid: string(p.UID), version: p.ResourceVersion, node: p.Spec.NodeName,
		labels: p.Labels, annotations: p.Annotations, owners: p.OwnerReferences}
	s := &p.Spec
	if s.Hostname != "" || s.Volumes != nil || s.Affinity != nil && len(p.OwnerReferences) > 0 && p.OwnerReferences[0].Kind == "DaemonSet" {
		out.rare = &rare{s.Hostname, s.Volumes, s.Affinity}
		s.Hostname, s.Volumes, s.Affinity = "", nil, nil
	}
	out.at[0] = seconds(&p.CreationTimestamp)
	out.at[1] = seconds(p.Status.StartTime)
	if list := p.Status.Conditions; len(list) <= timesOf {
		for i := range list {
			out.at[2+i] = seconds(&list[i].LastTransitionTime)
			list[i].LastTransitionTime = metav1.Time{}
		}
	}
	p.Name, p.Namespace, p.UID, p.ResourceVersion = "", "", "", ""
	p.Labels, p.Annotations, p.OwnerReferences, p.CreationTimestamp = nil, nil, nil, metav1.Time{}
	s.NodeName, p.Status.StartTime = "", nil
	out.common = Share(&k.common, "pod", p)
	return out
}

// into writes the pod as it was: what it points to is shared, and must not be written.
func (p *pod) into(out *corev1.Pod) {
	*out = *p.common
	out.Name, out.Namespace, out.UID, out.ResourceVersion = p.name, p.namespace, types.UID(p.uid), p.version
	out.Labels, out.Annotations, out.OwnerReferences = p.labels, p.annotations, p.owners
	out.CreationTimestamp = moment(p.at[0])
	out.Spec.NodeName = p.node
	if p.rare != nil {
		out.Spec.Hostname, out.Spec.Volumes, out.Spec.Affinity = p.rare.hostname, p.rare.volumes, p.rare.affinity
	}
	if p.at[1] != 0 {
		started := moment(p.at[1])
		out.Status.StartTime = &started
	}
	if list := out.Status.Conditions; len(list) > 0 && len(list) <= timesOf {
		out.Status.Conditions = append(make([]corev1.PodCondition, 0, len(list)), list...)
		for i := range list {
			out.Status.Conditions[i].LastTransitionTime = moment(p.at[2+i])
		}
	}
}

func (p *pod) whole() *corev1.Pod {
	out := &corev1.Pod{}
	p.into(out)
	return out
}

func seconds(t *metav1.Time) int64 {
	if t.IsZero() {
		return 0
	}
	return t.Unix()
}

func moment(seconds int64) metav1.Time {
	if seconds == 0 {
		return metav1.Time{}
	}
	return metav1.Unix(seconds, 0)
}

// GetObjectMeta says by what client-go's stores know the pod.
func (p *pod) GetObjectMeta() metav1.Object {
	return &metav1.ObjectMeta{Name: p.name, Namespace: p.namespace, UID: types.UID(p.uid), ResourceVersion: p.version}
}

func (p *pod) GetObjectKind() schema.ObjectKind { return schema.EmptyObjectKind }

// DeepCopyObject returns a pod of its own: client-go's mutation detector compares it with this one.
func (p *pod) DeepCopyObject() runtime.Object {
	var alone packer
	return alone.pack(p.whole().DeepCopy())
}
