package volume

import (
	"context"
	"fmt"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// finalizer keeps an attachment until its volume is detached.
const finalizer = "external-attacher/ebs-csi-aws-com"

// releasedRecheck is how often a released volume that is still attached is
// looked at.
const releasedRecheck = time.Second

// syncAttachment attaches or detaches once the delay since the wish is over.
func (d *Driver) syncAttachment(ctx context.Context, it item) (time.Duration, error) {
	a, err := d.attachments.Get(it.name)
	if err != nil || a.Spec.Attacher != DriverName {
		return 0, ignoreGone(err)
	}
	if a.DeletionTimestamp != nil {
		if wait := time.Until(a.DeletionTimestamp.Add(d.options.DetachAfter)); wait > 0 {
			return wait, nil
		}
		return 0, d.detach(ctx, a)
	}
	if !slices.Contains(a.Finalizers, finalizer) {
		return 0, d.hold(ctx, a)
	}
	if a.Status.Attached {
		return 0, nil
	}
	if wait := time.Until(a.CreationTimestamp.Add(d.options.AttachAfter)); wait > 0 {
		return wait, nil
	}
	return 0, d.attach(ctx, a)
}

func (d *Driver) hold(ctx context.Context, a *storagev1.VolumeAttachment) error {
	held := a.DeepCopy()
	held.Finalizers = append(held.Finalizers, finalizer)
	_, err := d.options.Client.StorageV1().VolumeAttachments().Update(ctx, held, metav1.UpdateOptions{})
	if ignoreGone(err) != nil {
		return fmt.Errorf("hold attachment %s: %w", a.Name, err)
	}
	return nil
}

func (d *Driver) attach(ctx context.Context, a *storagev1.VolumeAttachment) error {
	done := a.DeepCopy()
	done.Status = storagev1.VolumeAttachmentStatus{
		Attached: true, AttachmentMetadata: map[string]string{"devicePath": "/dev/xvdaa"},
	}
	_, err := d.options.Client.StorageV1().VolumeAttachments().UpdateStatus(ctx, done, metav1.UpdateOptions{})
	if ignoreGone(err) != nil {
		return fmt.Errorf("attach %s: %w", a.Name, err)
	}
	return nil
}

func (d *Driver) detach(ctx context.Context, a *storagev1.VolumeAttachment) error {
	freed := a.DeepCopy()
	freed.Finalizers = slices.DeleteFunc(freed.Finalizers, func(f string) bool { return f == finalizer })
	if len(freed.Finalizers) == len(a.Finalizers) {
		return nil
	}
	_, err := d.options.Client.StorageV1().VolumeAttachments().Update(ctx, freed, metav1.UpdateOptions{})
	if ignoreGone(err) != nil {
		return fmt.Errorf("detach %s: %w", a.Name, err)
	}
	return nil
}

// syncVolume deletes a volume that was released, when its class says so and
// nothing holds it any more.
func (d *Driver) syncVolume(ctx context.Context, it item) (time.Duration, error) {
	v, err := d.volumes.Get(it.name)
	if err != nil || !ours(v) || v.DeletionTimestamp != nil {
		return 0, ignoreGone(err)
	}
	if v.Status.Phase != corev1.VolumeReleased || v.Spec.PersistentVolumeReclaimPolicy != corev1.PersistentVolumeReclaimDelete {
		return 0, nil
	}
	if d.isAttached(v.Name) {
		return releasedRecheck, nil
	}
	err = d.options.Client.CoreV1().PersistentVolumes().Delete(ctx, v.Name, metav1.DeleteOptions{})
	if ignoreGone(err) != nil {
		return 0, fmt.Errorf("delete released volume %s: %w", v.Name, err)
	}
	return 0, nil
}

func (d *Driver) isAttached(volume string) bool {
	all, _ := d.attachments.List(labels.Everything())
	return slices.ContainsFunc(all, func(a *storagev1.VolumeAttachment) bool {
		return a.Spec.Source.PersistentVolumeName != nil && *a.Spec.Source.PersistentVolumeName == volume
	})
}
