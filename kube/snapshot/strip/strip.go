// Package strip keeps the caches of informers small: as objects are decoded, it drops what is never
// read, and lets equal parts share memory. The remaining parts mean the same to every reader here. It
// decides nothing.
package strip

import (
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	policyv1 "k8s.io/api/policy/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/api/resource"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/kube/translate/podspec"
)

// Strip drops what none here reads from an object as it is decoded, so that
// caches stay small: managed fields of everything, the environment, probes, addresses
// and status details of pods and of the templates of DaemonSets, the image
// lists of nodes, the parameters of storage, of other workloads all but whom
// they choose, what their pods ask for, how many they want and how many may fail, and of Deployments and PodTemplates all but
// that they have changed. It is a transform for informers.
func Strip(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	switch o := object.(type) {
	case *corev1.Pod:
		stripPod(o)
	case *appsv1.DaemonSet:
		env := networkSettings(o)
		stripSpec(&o.Spec.Template.Spec)
		for i := range o.Spec.Template.Spec.Containers {
			o.Spec.Template.Spec.Containers[i].Env = env[o.Spec.Template.Spec.Containers[i].Name]
		}
		o.Status.Conditions = nil
	case *corev1.Node:
		stripNode(o)
	case *corev1.Namespace:
		o.Annotations, o.Status.Conditions = nil, nil
	case *corev1.PersistentVolumeClaim:
		o.Labels, o.Status = nil, corev1.PersistentVolumeClaimStatus{Phase: o.Status.Phase}
	case *corev1.PersistentVolume:
		stripVolume(o)
	case *storagev1.StorageClass:
		o.Parameters, o.MountOptions = nil, nil
	case *corev1.Service:
		o.Spec, o.Status = corev1.ServiceSpec{Selector: o.Spec.Selector}, corev1.ServiceStatus{}
	case *appsv1.ReplicaSet:
		stripTemplate(o, &o.Spec.Template)
		o.ObjectMeta, o.Status = named(o.ObjectMeta), appsv1.ReplicaSetStatus{}
	case *appsv1.StatefulSet:
		stripTemplate(o, &o.Spec.Template)
		o.ObjectMeta, o.Spec.VolumeClaimTemplates, o.Status = named(o.ObjectMeta), nil, appsv1.StatefulSetStatus{}
	case *appsv1.Deployment:
		o.ObjectMeta, o.Spec, o.Status = named(o.ObjectMeta), appsv1.DeploymentSpec{}, appsv1.DeploymentStatus{}
	case *corev1.PodTemplate:
		o.ObjectMeta, o.Template = named(o.ObjectMeta), corev1.PodTemplateSpec{}
	case *batchv1.Job:
		stripJob(o)
	case *policyv1.PodDisruptionBudget:
		podspec.StripPDB(o)
	case *corev1.ReplicationController:
		if o.Spec.Template != nil {
			stripTemplate(o, o.Spec.Template)
		}
		o.ObjectMeta, o.Status = named(o.ObjectMeta), corev1.ReplicationControllerStatus{}
	}
	return object, nil
}

// networkSettings are the variables, by container, of the VPC's network plugin, by which
// classes are judged; none of other DaemonSets.
func networkSettings(ds *appsv1.DaemonSet) map[string][]corev1.EnvVar {
	if ds.Namespace != "kube-system" || ds.Name != "aws-node" {
		return nil
	}
	out := map[string][]corev1.EnvVar{}
	for _, c := range ds.Spec.Template.Spec.Containers {
		out[c.Name] = c.Env
	}
	return out
}

// named keeps of an object which it is, what controls it, and whether it is being deleted, and leaves its pods behind: there are many old
// ReplicaSets and Jobs, with labels and annotations that none reads.
func named(m metav1.ObjectMeta) metav1.ObjectMeta {
	out := metav1.ObjectMeta{
		Namespace: m.Namespace, Name: m.Name, UID: m.UID, ResourceVersion: m.ResourceVersion, Generation: m.Generation,
		DeletionTimestamp: m.DeletionTimestamp,
	}
	if m.DeletionTimestamp != nil {
		out.Finalizers = m.Finalizers
	}
	if above := metav1.GetControllerOfNoCopy(&m); above != nil {
		out.OwnerReferences = []metav1.OwnerReference{{APIVersion: above.APIVersion, Kind: above.Kind, Name: above.Name, Controller: above.Controller}}
	}
	return out
}

// stripJob keeps how many pods a Job wants, and how many may fail.
func stripJob(o *batchv1.Job) {
	stripTemplate(o, &o.Spec.Template)
	o.ObjectMeta, o.Spec.Selector = named(o.ObjectMeta), nil
	for i := range o.Status.Conditions {
		c := &o.Status.Conditions[i]
		o.Status.Conditions[i] = batchv1.JobCondition{Type: c.Type, Status: c.Status}
	}
	o.Status = batchv1.JobStatus{Conditions: o.Status.Conditions, Succeeded: o.Status.Succeeded, Failed: o.Status.Failed, Terminating: o.Status.Terminating,
		UncountedTerminatedPods: o.Status.UncountedTerminatedPods}
}

// stripTemplate keeps what pods of an owner ask for; nothing where it wants none.
func stripTemplate(owner client.Object, t *corev1.PodTemplateSpec) {
	is := podspec.WorkloadOf(owner)
	if is.IsDone() {
		*t = corev1.PodTemplateSpec{}
		return
	}
	asking := func(list []corev1.Container) []corev1.Container {
		for i := range list {
			list[i] = corev1.Container{Name: list[i].Name, Resources: list[i].Resources, RestartPolicy: list[i].RestartPolicy}
		}
		return list
	}
	*t = corev1.PodTemplateSpec{Spec: corev1.PodSpec{InitContainers: asking(t.Spec.InitContainers), Containers: asking(t.Spec.Containers),
		Overhead: t.Spec.Overhead, Resources: t.Spec.Resources}}
}

// stripVolume keeps the name and handle of a driver and drops what only the
// driver reads.
func stripVolume(v *corev1.PersistentVolume) {
	v.Status = corev1.PersistentVolumeStatus{Phase: v.Status.Phase}
	v.Spec.MountOptions = nil
	if v.Spec.CSI != nil {
		v.Spec.CSI = &corev1.CSIPersistentVolumeSource{Driver: v.Spec.CSI.Driver, VolumeHandle: v.Spec.CSI.VolumeHandle}
	}
}

// stripNode also drops what a kubelet writes every few minutes though nothing has changed.
func stripNode(n *corev1.Node) {
	n.Status.Images = nil
	for i := range n.Status.Conditions {
		n.Status.Conditions[i].LastHeartbeatTime = metav1.Time{}
	}
}

// stripPod writes nothing that pods may share: it is done once more to one that has been
// through Sharing.
func stripPod(p *corev1.Pod) {
	if _, applied := p.Annotations[corev1.LastAppliedConfigAnnotation]; applied {
		p.Annotations = maps.Clone(p.Annotations)
		delete(p.Annotations, corev1.LastAppliedConfigAnnotation)
	}
	p.GenerateName = ""
	stripSpec(&p.Spec)
	s := &p.Status
	p.Status = corev1.PodStatus{
		Phase: s.Phase, Conditions: stripConditions(s.Conditions), Reason: s.Reason, NominatedNodeName: s.NominatedNodeName, StartTime: s.StartTime, Resize: s.Resize,
		AllocatedResources: s.AllocatedResources, Resources: s.Resources,
		InitContainerStatuses: stripStatuses(s.InitContainerStatuses, p.Spec.InitContainers),
		ContainerStatuses:     stripStatuses(s.ContainerStatuses, p.Spec.Containers),
	}
}

// stripConditions drops what kubelets say on the way to Ready.
func stripConditions(list []corev1.PodCondition) (out []corev1.PodCondition) {
	for _, c := range list {
		switch c.Type {
		case corev1.PodReadyToStartContainers, corev1.PodInitialized, corev1.ContainersReady:
		default:
			out = append(out, c)
		}
	}
	return slices.Clip(out)
}

func stripSpec(s *corev1.PodSpec) {
	s.InitContainers = stripContainers(s.InitContainers)
	s.Containers = stripContainers(s.Containers)
	s.EphemeralContainers = nil
	s.ImagePullSecrets, s.HostAliases, s.DNSConfig = nil, nil, nil
	var volumes []corev1.Volume
	for i := range s.Volumes {
		if podspec.IsAttached(&s.Volumes[i]) {
			volumes = append(volumes, s.Volumes[i])
		}
	}
	s.Volumes = volumes
}

// stripContainers keeps what requests, ports and ordering are read from.
func stripContainers(list []corev1.Container) []corev1.Container {
	if list == nil {
		return nil
	}
	out := make([]corev1.Container, len(list))
	for i := range list {
		c := &list[i]
		out[i] = corev1.Container{
			Name: c.Name, Ports: c.Ports, Resources: c.Resources, RestartPolicy: c.RestartPolicy, RestartPolicyRules: c.RestartPolicyRules,
		}
	}
	return out
}

// stripStatuses keeps the resources of containers that have others than they ask for:
// while they are resized.
func stripStatuses(list []corev1.ContainerStatus, of []corev1.Container) (out []corev1.ContainerStatus) {
	for i := range list {
		s := &list[i]
		at := slices.IndexFunc(of, func(c corev1.Container) bool { return c.Name == s.Name })
		if s.Resources == nil && s.AllocatedResources == nil || at >= 0 && hasWhatItAsks(s, of[at].Resources.Requests) {
			continue
		}
		out = append(out, corev1.ContainerStatus{Name: s.Name, AllocatedResources: s.AllocatedResources, Resources: s.Resources})
	}
	return out
}

func hasWhatItAsks(s *corev1.ContainerStatus, asks corev1.ResourceList) bool {
	same := func(a, b resource.Quantity) bool { return a.Cmp(b) == 0 }
	return (s.Resources == nil || maps.EqualFunc(s.Resources.Requests, asks, same)) && (s.AllocatedResources == nil || maps.EqualFunc(s.AllocatedResources, asks, same))
}
