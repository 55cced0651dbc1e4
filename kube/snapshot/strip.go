package snapshot

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/api/meta"
)

// Strip drops what nobody here reads from an object as it is decoded, so that
// caches stay small: managed fields of everything, the environment, probes
// and status details of pods, the image lists of nodes. It is a transform for
// informers.
func Strip(object any) (any, error) {
	if accessor, err := meta.Accessor(object); err == nil {
		accessor.SetManagedFields(nil)
	}
	switch o := object.(type) {
	case *corev1.Pod:
		stripPod(o)
	case *corev1.Node:
		o.Status.Images = nil
	}
	return object, nil
}

func stripPod(p *corev1.Pod) {
	p.Spec.InitContainers = stripContainers(p.Spec.InitContainers)
	p.Spec.Containers = stripContainers(p.Spec.Containers)
	p.Spec.EphemeralContainers = nil
	p.Spec.ImagePullSecrets, p.Spec.HostAliases, p.Spec.DNSConfig = nil, nil, nil
	var volumes []corev1.Volume
	for _, v := range p.Spec.Volumes {
		if v.PersistentVolumeClaim != nil || v.Ephemeral != nil {
			volumes = append(volumes, v)
		}
	}
	p.Spec.Volumes = volumes
	p.Status.InitContainerStatuses = stripStatuses(p.Status.InitContainerStatuses)
	p.Status.ContainerStatuses = stripStatuses(p.Status.ContainerStatuses)
	p.Status.EphemeralContainerStatuses = nil
	delete(p.Annotations, corev1.LastAppliedConfigAnnotation)
}

// stripContainers keeps what requests, ports and ordering are read from.
func stripContainers(list []corev1.Container) []corev1.Container {
	for i := range list {
		c := &list[i]
		list[i] = corev1.Container{Name: c.Name, Ports: c.Ports, Resources: c.Resources, RestartPolicy: c.RestartPolicy}
	}
	return list
}

func stripStatuses(list []corev1.ContainerStatus) []corev1.ContainerStatus {
	for i := range list {
		s := &list[i]
		list[i] = corev1.ContainerStatus{Name: s.Name, AllocatedResources: s.AllocatedResources, Resources: s.Resources}
	}
	return list
}
