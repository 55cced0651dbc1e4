package manifest

import (
	"fmt"
	"maps"
	"strconv"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
)

// workload is something that makes pods from a template.
type workload struct {
	Object
	kind     string
	replicas *int32 // nil: as many as there are, or one
	template corev1.PodTemplateSpec
	selector *metav1.LabelSelector
	claims   []corev1.PersistentVolumeClaim // each pod's own
	ordered  bool                           // pods are numbered
	first    int                            // number of the first
}

// workloadOf is the workload that an object is.
func workloadOf(o Object) (w workload, is bool) {
	switch x := o.Object.(type) {
	case *appsv1.Deployment:
		return workload{Object: o, kind: "Deployment", replicas: x.Spec.Replicas, template: x.Spec.Template, selector: x.Spec.Selector}, true
	case *appsv1.ReplicaSet:
		return workload{Object: o, kind: "ReplicaSet", replicas: x.Spec.Replicas, template: x.Spec.Template, selector: x.Spec.Selector}, true
	case *appsv1.StatefulSet:
		w = workload{Object: o, kind: "StatefulSet", replicas: x.Spec.Replicas, template: x.Spec.Template, selector: x.Spec.Selector,
			claims: x.Spec.VolumeClaimTemplates, ordered: true}
		if x.Spec.Ordinals != nil {
			w.first = int(x.Spec.Ordinals.Start)
		}
		return w, true
	case *batchv1.Job:
		at := atOnce(&x.Spec)
		return workload{Object: o, kind: "Job", replicas: &at, template: x.Spec.Template}, true
	}
	return workload{}, false
}

// atOnce is how many pods of a job run at once at most.
func atOnce(s *batchv1.JobSpec) int32 {
	if s.Suspend != nil && *s.Suspend {
		return 0
	}
	at := int32(1)
	if s.Parallelism != nil {
		at = *s.Parallelism
	}
	if s.Completions != nil {
		at = min(at, *s.Completions)
	}
	return at
}

// check finds what an API server would refuse and what a plan would be wrong
// about.
func (w *workload) check() error {
	if c := metav1.GetControllerOf(w.Object.Object); c != nil {
		return fmt.Errorf("it is made by %s %s: give that one", c.Kind, c.Name)
	}
	if w.replicas != nil && *w.replicas < 0 {
		return fmt.Errorf("spec.replicas is %d", *w.replicas)
	}
	if w.kind == "Job" {
		return nil // its selector is made by the API server
	}
	if w.selector == nil {
		return fmt.Errorf("spec.selector is missing")
	}
	chosen, err := metav1.LabelSelectorAsSelector(w.selector)
	if err != nil {
		return fmt.Errorf("spec.selector: %w", err)
	}
	if chosen.Empty() || !chosen.Matches(labels.Set(w.template.Labels)) {
		return fmt.Errorf("spec.selector %s does not choose the labels of spec.template.metadata.labels", metav1.FormatLabelSelector(w.selector))
	}
	return nil
}

// owns reports whether a pod of a snapshot is one of the workload that stays,
// or comes back.
func (w *workload) owns(p *cluster.Pod) bool {
	return p.Namespace == w.GetNamespace() && p.Owner == w.kind+"/"+w.GetName() && (!p.Ending || p.Returns)
}

// hashIfNew is the version of a template that no pod has yet.
const hashIfNew = "new"

// pod is one that the workload would make: of the version of its template that
// pods have already, or a new one.
func (w *workload) pod(name string, number int, hash string) *corev1.Pod {
	pod := &corev1.Pod{
		ObjectMeta: metav1.ObjectMeta{
			Namespace: w.GetNamespace(), Name: name, UID: plannedUID(w.GetNamespace(), name),
			Labels: maps.Clone(w.template.Labels), Annotations: maps.Clone(w.template.Annotations),
			OwnerReferences: []metav1.OwnerReference{{Kind: w.kind, Name: w.GetName(), APIVersion: w.apiVersion(), Controller: new(true)}},
		},
		Spec: *w.template.Spec.DeepCopy(),
	}
	if pod.Labels == nil {
		pod.Labels = map[string]string{}
	}
	w.mark(pod, number, hash)
	for i := range w.claims {
		w.claim(pod, &w.claims[i])
	}
	return pod
}

// plannedUID stands for the one that an API server would give.
func plannedUID(namespace, name string) types.UID {
	return types.UID("planned-" + namespace + "-" + name)
}

func (w *workload) apiVersion() string {
	if w.kind == "Job" {
		return batchv1.SchemeGroupVersion.String()
	}
	return appsv1.SchemeGroupVersion.String()
}

// mark adds what the workload's controller adds.
func (w *workload) mark(pod *corev1.Pod, number int, hash string) {
	switch w.kind {
	case "Deployment":
		pod.Labels[appsv1.DefaultDeploymentUniqueLabelKey] = hash
		pod.OwnerReferences[0].Kind, pod.OwnerReferences[0].Name = "ReplicaSet", w.replicaSet(hash)
	case "StatefulSet":
		pod.Labels[appsv1.ControllerRevisionHashLabelKey] = hash
		pod.Labels[appsv1.StatefulSetPodNameLabel] = pod.Name
		pod.Labels[appsv1.PodIndexLabel] = strconv.Itoa(number)
	case "Job":
		pod.Labels[batchv1.JobNameLabel] = w.GetName()
		pod.Labels["job-name"] = w.GetName()
	}
}

// replicaSet is the name of the one that a Deployment would make.
func (w *workload) replicaSet(hash string) string { return w.GetName() + "-" + hash }

// hashLabel is the label that distinguishes versions of a template.
func (w *workload) hashLabel() string {
	if w.kind == "StatefulSet" {
		return appsv1.ControllerRevisionHashLabelKey
	}
	return appsv1.DefaultDeploymentUniqueLabelKey
}

// claim lets a pod use its own claim of a template.
func (w *workload) claim(pod *corev1.Pod, template *corev1.PersistentVolumeClaim) {
	pod.Spec.Volumes = append(pod.Spec.Volumes, corev1.Volume{Name: template.Name, VolumeSource: corev1.VolumeSource{
		PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: template.Name + "-" + pod.Name},
	}})
}

// claimsOf are the claims that the workload would make for a pod.
func (w *workload) claimsOf(pod string) []*corev1.PersistentVolumeClaim {
	var out []*corev1.PersistentVolumeClaim
	for i := range w.claims {
		c := w.claims[i].DeepCopy()
		c.Namespace, c.Name = w.GetNamespace(), c.Name+"-"+pod
		c.Status = corev1.PersistentVolumeClaimStatus{Phase: corev1.ClaimPending}
		out = append(out, c)
	}
	return out
}
