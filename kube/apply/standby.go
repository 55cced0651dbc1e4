package apply

import (
	"context"
	"fmt"

	corev1 "k8s.io/api/core/v1"
	apierrors "k8s.io/apimachinery/pkg/api/errors"
	"sigs.k8s.io/controller-runtime/pkg/client"

	"github.com/daemok/daemok/core/plan"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// lookAtSelf asks, where this process runs on the node that is to go, whether
// another replica is ready on a node that stays. Where there is no other at all
// its node goes for what it goes for in any event, and not to save money; past
// its age it goes whatever there is.
func (a *Applier) lookAtSelf(ctx context.Context, r *leaver, claim *karpv1.NodeClaim, onNode []corev1.Pod) error {
	self := a.selfAmong(onNode)
	if self == nil || r.Reason == plan.Expired && translate.IsExpired(claim, a.Now()) {
		return nil
	}
	var replicas corev1.PodList
	if err := a.Live.List(ctx, &replicas, client.InNamespace(self.Namespace), client.MatchingLabels(podspec.ReplicaLabels(self.Labels))); err != nil {
		return fmt.Errorf("look for a replica of the controller that could take over: %w", err)
	}
	others := 0
	for i := range replicas.Items {
		p := &replicas.Items[i]
		if p.UID == self.UID || podspec.IsTerminal(p) {
			continue
		}
		others++
		if p.Spec.NodeName == r.Node || !podspec.IsUp(p) {
			continue
		}
		if stays, err := a.nodeStays(ctx, p.Spec.NodeName); err != nil || stays {
			return err
		}
	}
	if others == 0 && (r.Reason == plan.Expired || r.Reason == plan.Drifted) {
		return nil
	}
	return fmt.Errorf("%w: the controller runs on node %s, and no other replica is ready on a node that stays", ErrChanged, r.Node)
}

// selfAmong finds the pod that this process runs in.
func (a *Applier) selfAmong(pods []corev1.Pod) *corev1.Pod {
	for i := range pods {
		if p := &pods[i]; a.Pod != "" && p.Name == a.Pod && p.Namespace == a.Namespace && len(p.Labels) > 0 {
			return p
		}
	}
	return nil
}

// nodeStays reports whether a node is not about to be removed.
func (a *Applier) nodeStays(ctx context.Context, name string) (bool, error) {
	if a.Ledger.isLeaving(name) {
		return false, nil
	}
	node := &corev1.Node{}
	err := a.Live.Get(ctx, client.ObjectKey{Name: name}, node)
	if apierrors.IsNotFound(err) {
		return false, nil
	}
	if err != nil {
		return false, fmt.Errorf("read node %s, on which a replica of the controller is: %w", name, err)
	}
	return !translate.IsLeaving(node), nil
}
