package storage

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"k8s.io/apimachinery/pkg/types"
)

func nameOf(c *corev1.PersistentVolumeClaim) types.NamespacedName {
	return types.NamespacedName{Namespace: c.Namespace, Name: c.Name}
}

func sameClaim(a, b *corev1.PersistentVolumeClaim) bool {
	return a.Status.Phase == b.Status.Phase && (a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil) &&
		reflect.DeepEqual(a.Spec, b.Spec) && reflect.DeepEqual(a.Annotations, b.Annotations) && reflect.DeepEqual(a.OwnerReferences, b.OwnerReferences)
}

func sameVolume(a, b *corev1.PersistentVolume) bool {
	return a.Status.Phase == b.Status.Phase && (a.DeletionTimestamp == nil) == (b.DeletionTimestamp == nil) &&
		reflect.DeepEqual(a.Spec, b.Spec) && reflect.DeepEqual(a.Labels, b.Labels) && reflect.DeepEqual(a.Annotations, b.Annotations)
}

func sameClass(a, b *storagev1.StorageClass) bool {
	return reflect.DeepEqual(a.Annotations, b.Annotations) && reflect.DeepEqual(a.AllowedTopologies, b.AllowedTopologies) &&
		a.Provisioner == b.Provisioner && reflect.DeepEqual(a.VolumeBindingMode, b.VolumeBindingMode)
}

// index lists what belongs to each volume.
type index[T comparable] map[string]map[T]struct{}

func (x index[T]) put(volume string, of T) {
	if volume == "" {
		return
	}
	if x[volume] == nil {
		x[volume] = map[T]struct{}{}
	}
	x[volume][of] = struct{}{}
}

func (x index[T]) drop(volume string, of T) {
	delete(x[volume], of)
	if len(x[volume]) == 0 {
		delete(x, volume)
	}
}
