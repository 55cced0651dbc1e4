package volume

import (
	"crypto/sha256"
	"fmt"
	"path"
	"slices"

	corev1 "k8s.io/api/core/v1"
)

// Volumes returns the EBS volumes of a pod, sorted, and why the pod must wait
// for them: a claim that is not bound or a volume that is not attached to the
// pod's node. An empty reason means that all is there. Volumes of other
// drivers are taken as there.
func (d *Driver) Volumes(pod *corev1.Pod) (names []corev1.UniqueVolumeName, waiting string) {
	for _, v := range pod.Spec.Volumes {
		claim := claimName(pod, v)
		if claim == "" {
			continue
		}
		handle, why := d.handleOf(pod.Namespace, claim)
		if handle == "" {
			if waiting == "" {
				waiting = why
			}
			continue
		}
		names = append(names, corev1.UniqueVolumeName("kubernetes.io/csi/"+DriverName+"^"+handle))
		if waiting == "" && !d.attached(handle, pod.Spec.NodeName) {
			waiting = fmt.Sprintf("volume %s of claim %s is not attached", handle, claim)
		}
	}
	slices.Sort(names)
	return slices.Compact(names), waiting
}

func claimName(pod *corev1.Pod, v corev1.Volume) string {
	switch {
	case v.PersistentVolumeClaim != nil:
		return v.PersistentVolumeClaim.ClaimName
	case v.Ephemeral != nil:
		return pod.Name + "-" + v.Name
	}
	return ""
}

// handleOf returns the EBS volume behind a claim, or why there is none yet;
// neither for a claim whose volume is of another driver.
func (d *Driver) handleOf(namespace, claim string) (handle, why string) {
	c, err := d.claims.PersistentVolumeClaims(namespace).Get(claim)
	if err != nil {
		return "", fmt.Sprintf("claim %s not found", claim)
	}
	v, err := d.volumes.Get(c.Spec.VolumeName)
	if err != nil || c.Status.Phase != corev1.ClaimBound {
		return "", fmt.Sprintf("claim %s is not bound", claim)
	}
	switch {
	case ours(v):
		return v.Spec.CSI.VolumeHandle, ""
	case v.Spec.AWSElasticBlockStore != nil: // handled by the CSI driver today
		return path.Base(v.Spec.AWSElasticBlockStore.VolumeID), ""
	}
	return "", ""
}

// attached looks the attachment up by the name that the attach-detach
// controller gives it.
func (d *Driver) attached(handle, node string) bool {
	sum := sha256.Sum256([]byte(handle + DriverName + node))
	a, err := d.attachments.Get(fmt.Sprintf("csi-%x", sum))
	return err == nil && a.Status.Attached && a.DeletionTimestamp == nil
}
