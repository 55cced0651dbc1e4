package whole_test

import (
	"testing"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/test/fakecloud"
)

// A cluster without a default StorageClass, and a pod whose volume claim names none: its owner is told
// on the pod, and nothing is launched. Once a class is marked as the default, an instance is.
func TestAClaimWithoutAStorageClassIsSaidOnThePod(t *testing.T) {
	report(t, fakecloud.Options{Seed: 83}, func(t *testing.T, w *world) {
		w.pool("default", nil)
		w.start(setup{})
		w.create(&corev1.PersistentVolumeClaim{ObjectMeta: metav1.ObjectMeta{Namespace: "default", Name: "data"},
			Spec: corev1.PersistentVolumeClaimSpec{AccessModes: []corev1.PersistentVolumeAccessMode{corev1.ReadWriteOnce}}})
		w.lone("db", func(p *corev1.Pod) {
			p.Spec.Volumes = []corev1.Volume{{Name: "data", VolumeSource: corev1.VolumeSource{PersistentVolumeClaim: &corev1.PersistentVolumeClaimVolumeSource{ClaimName: "data"}}}}
		})
		const words = "FailedScheduling: volume claim default/data is not bound and names no storage class, and the cluster has no default StorageClass"
		w.until(5*time.Minute, words, func() bool { return w.events.said(words) })
		if n := w.launched(); n > 0 {
			t.Errorf("%d instances were launched for a pod that cannot run, want none", n)
		}
		w.create(&storagev1.StorageClass{
			ObjectMeta:  metav1.ObjectMeta{Name: "gp3", Annotations: map[string]string{"storageclass.kubernetes.io/is-default-class": "true"}},
			Provisioner: "ebs.csi.aws.com", VolumeBindingMode: new(storagev1.VolumeBindingWaitForFirstConsumer),
		})
		w.until(5*time.Minute, "an instance for the pod", func() bool { return w.launched() == 1 })
	})
}
