// Package virtual makes the pods that objects stand for which exist in plans alone, from the templates that these
// objects name.
//
// It promises pods as they would wait for a node. What admission adds to them, and where they have room, others
// find out.
package virtual

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	schedulingv1 "k8s.io/api/scheduling/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/types"
	"sigs.k8s.io/controller-runtime/pkg/client"
)

// Refusal is why an object stands for no pods; the zero value: it does.
type Refusal struct {
	Reason  string // of its condition
	Message string // what is wrong, and what to do
}

// Pod is the pod that the template makes for an object of the kind, as it would wait for a node: without a node,
// scheduling gates, and the volumes that belong to one pod alone, which a virtual pod can have none of.
func Pod(kind string, of client.Object, template *corev1.PodTemplateSpec) *corev1.Pod {
	template = template.DeepCopy()
	pod := &corev1.Pod{ObjectMeta: metav1.ObjectMeta{
		Namespace: of.GetNamespace(), Name: of.GetName(),
		UID:               types.UID(kind + "/" + of.GetNamespace() + "/" + of.GetName()),
		CreationTimestamp: of.GetCreationTimestamp(), Labels: template.Labels,
	}, Spec: template.Spec}
	pod.Spec.NodeName, pod.Spec.SchedulingGates = "", nil
	var volumes []corev1.Volume
	for _, v := range pod.Spec.Volumes {
		if v.PersistentVolumeClaim == nil && v.Ephemeral == nil {
			volumes = append(volumes, v)
		}
	}
	pod.Spec.Volumes = volumes
	return pod
}

// systemPriorities are the classes that every cluster has.
var systemPriorities = map[string]int32{
	"system-cluster-critical": 2_000_000_000, "system-node-critical": 2_000_001_000,
}

// Prioritise sets the priority that a class gives, or the one of pods that name none. why says what is wrong with the
// class, and what to do; an error is one of reading, after which it is to be tried again.
func Prioritise(ctx context.Context, from client.Reader, pod *corev1.Pod) (why string, err error) {
	name := pod.Spec.PriorityClassName
	if value, known := systemPriorities[name]; known {
		pod.Spec.Priority = &value
		return "", nil
	}
	list := &schedulingv1.PriorityClassList{}
	if err := from.List(ctx, list); err != nil {
		if name == "" && apierrors.IsForbidden(err) {
			return "", nil
		}
		if apierrors.IsForbidden(err) {
			return fmt.Sprintf("its pods name PriorityClass %q, and PriorityClasses may not be listed: "+
				"grant the verb list on them", name), nil
		}
		return "", fmt.Errorf("list PriorityClasses: %w", err)
	}
	var usual *schedulingv1.PriorityClass
	for i := range list.Items {
		c := &list.Items[i]
		if c.Name == name {
			pod.Spec.Priority = &c.Value
			return "", nil
		}
		if c.GlobalDefault && (usual == nil || c.Value < usual.Value) {
			usual = c
		}
	}
	if name != "" {
		return fmt.Sprintf("its pods name PriorityClass %q, which is not there: "+
			"create it, or name another one", name), nil
	}
	if usual != nil {
		pod.Spec.Priority = &usual.Value
	}
	return "", nil
}
