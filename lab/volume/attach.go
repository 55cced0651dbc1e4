package volume

import (
	"cmp"
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

// releasedRecheck is how often a released volume that is still attached is checked.
const releasedRecheck = time.Second

// refusedRecheck is how often a volume is tried again that its node had no place for.
const refusedRecheck = 2 * time.Second

// syncAttachment attaches or detaches once the delay since the preference is over.
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
	if full := d.full(a); full != "" {
		return refusedRecheck, d.refuse(ctx, a, full)
	}
	return 0, d.attach(ctx, a)
}

// full says that the attachment's node takes no more volumes, as EC2 words it; empty where it takes one. Of those that
// wait for a place the oldest get it.
func (d *Driver) full(a *storagev1.VolumeAttachment) string {
	node, err := d.limits.Get(a.Spec.NodeName)
	if err != nil {
		return "" // its driver has said nothing yet
	}
	i := slices.IndexFunc(node.Spec.Drivers, func(x storagev1.CSINodeDriver) bool { return x.Name == DriverName })
	if i < 0 || node.Spec.Drivers[i].Allocatable == nil || node.Spec.Drivers[i].Allocatable.Count == nil {
		return ""
	}
	ahead, most := int32(0), *node.Spec.Drivers[i].Allocatable.Count
	all, _ := d.attachments.List(labels.Everything())
	for _, other := range all {
		same := other.Spec.Attacher == DriverName && other.Spec.NodeName == a.Spec.NodeName && other.Name != a.Name
		if same && (other.Status.Attached || other.DeletionTimestamp == nil && before(other, a)) {
			ahead++
		}
	}
	if ahead < most {
		return ""
	}
	return fmt.Sprintf("rpc error: code = ResourceExhausted desc = Could not attach volume to node %q: AttachmentLimitExceeded: "+
		"the instance has %d volumes attached, and its driver takes no more than %d", node.Spec.Drivers[i].NodeID, ahead, most)
}

func before(one, other *storagev1.VolumeAttachment) bool {
	return cmp.Or(one.CreationTimestamp.Compare(other.CreationTimestamp.Time), cmp.Compare(one.Name, other.Name)) < 0
}

// refuse says once why the volume is not attached.
func (d *Driver) refuse(ctx context.Context, a *storagev1.VolumeAttachment, why string) error {
	if a.Status.AttachError != nil && a.Status.AttachError.Message == why {
		return nil
	}
	refused := a.DeepCopy()
	refused.Status.AttachError = &storagev1.VolumeError{Time: metav1.Now(), Message: why}
	_, err := d.options.Client.StorageV1().VolumeAttachments().UpdateStatus(ctx, refused, metav1.UpdateOptions{})
	if ignoreGone(err) != nil {
		return fmt.Errorf("refuse to attach %s: %w", a.Name, err)
	}
	return nil
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
