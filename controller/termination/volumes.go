package termination

import (
	"context"
	"fmt"
	"time"

	corev1 "k8s.io/api/core/v1"
	storagev1 "k8s.io/api/storage/v1"
	"sigs.k8s.io/controller-runtime/pkg/client"

	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate/podspec"
	"github.com/daemok/daemok/observe"
)

// awaitVolumes waits until the volumes of pods that left are detached, or
// the deadline has passed.
func (r *Reconciler) awaitVolumes(ctx context.Context, d *departure, claim *karpv1.NodeClaim,
	pods []corev1.Pod) (time.Duration, error) {
	node := d.node
	var list storagev1.VolumeAttachmentList
	if err := r.Store.List(ctx, &list, client.UnsafeDisableDeepCopy); err != nil { // all of the cluster's, only read
		return 0, fmt.Errorf("list volume attachments of node %s: %w", node.Name, err)
	}
	stay, err := r.volumesThatStay(ctx, pods)
	if err != nil {
		return 0, err
	}
	waiting := 0
	for i := range list.Items {
		source := list.Items[i].Spec.Source.PersistentVolumeName
		if list.Items[i].Spec.NodeName == node.Name && source != nil && !stay[*source] {
			waiting++
		}
	}
	if waiting == 0 {
		return 0, r.say(ctx, claim, karpv1.ClaimVolumesDetached, "", "")
	}
	if !d.deadline.IsZero() && !r.Now().Before(d.deadline) {
		return 0, nil
	}
	message := fmt.Sprintf("%d volumes are still attached", waiting)
	r.Events.Publish(observe.Event{About: node, Key: "Node/" + node.Name,
		Reason: karpv1.ReasonAwaitingVolumeDetachment, Message: message})
	return recheckDrain, r.say(ctx, claim, karpv1.ClaimVolumesDetached, karpv1.ReasonAwaitingVolumeDetachment, message)
}

// volumesThatStay names the volumes of pods that are not drained.
func (r *Reconciler) volumesThatStay(ctx context.Context, pods []corev1.Pod) (map[string]bool, error) {
	stay := map[string]bool{}
	for i := range pods {
		for _, use := range podspec.VolumeUses(&pods[i]) {
			if use.Claim.Name == "" {
				continue // written into the pod
			}
			pvc := &corev1.PersistentVolumeClaim{}
			if err := r.Live.Get(ctx, use.Claim, pvc); client.IgnoreNotFound(err) != nil {
				return nil, fmt.Errorf("read volume claim %s: %w", use.Claim, err)
			}
			stay[pvc.Spec.VolumeName] = true
		}
	}
	return stay, nil
}
