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

// boundClaims lists the claims bound to each volume.
type boundClaims map[string]map[types.NamespacedName]struct{}

func (b boundClaims) put(volume string, claim types.NamespacedName) {
	if volume == "" {
		return
	}
	if b[volume] == nil {
		b[volume] = map[types.NamespacedName]struct{}{}
	}
	b[volume][claim] = struct{}{}
}

func (b boundClaims) drop(volume string, claim types.NamespacedName) {
	delete(b[volume], claim)
	if len(b[volume]) == 0 {
		delete(b, volume)
	}
}
