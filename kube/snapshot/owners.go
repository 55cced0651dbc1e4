package snapshot

import (
	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate"
)

// ReplicaSetSeen takes in a ReplicaSet. It must not be written any more.
func (k *Keeper) ReplicaSetSeen(o *appsv1.ReplicaSet) {
	k.ownerIs(ownerID{o.Namespace, "ReplicaSet", o.Name}, workload{selector: o.Spec.Selector, pods: translate.Wants(&o.ObjectMeta, o.Spec.Replicas)})
}

// ReplicaSetGone takes in that a ReplicaSet was deleted.
func (k *Keeper) ReplicaSetGone(namespace, name string) {
	k.ownerIs(ownerID{namespace, "ReplicaSet", name}, workload{})
}

// StatefulSetSeen takes in a StatefulSet. It must not be written any more.
func (k *Keeper) StatefulSetSeen(o *appsv1.StatefulSet) {
	k.ownerIs(ownerID{o.Namespace, "StatefulSet", o.Name},
		workload{selector: o.Spec.Selector, pods: translate.Wants(&o.ObjectMeta, o.Spec.Replicas), first: translate.FirstOrdinal(o)})
}

// StatefulSetGone takes in that a StatefulSet was deleted.
func (k *Keeper) StatefulSetGone(namespace, name string) {
	k.ownerIs(ownerID{namespace, "StatefulSet", name}, workload{})
}

// ReplicationControllerSeen takes in a ReplicationController. It must not be
// written any more.
func (k *Keeper) ReplicationControllerSeen(o *corev1.ReplicationController) {
	k.ownerIs(ownerID{o.Namespace, "ReplicationController", o.Name},
		workload{selector: &metav1.LabelSelector{MatchLabels: o.Spec.Selector}, pods: translate.Wants(&o.ObjectMeta, o.Spec.Replicas)})
}

// ReplicationControllerGone takes in that a ReplicationController was deleted.
func (k *Keeper) ReplicationControllerGone(namespace, name string) {
	k.ownerIs(ownerID{namespace, "ReplicationController", name}, workload{})
}

// ownerIs takes in what an owner says; without a selector it is gone.
func (k *Keeper) ownerIs(id ownerID, now workload) {
	k.mu.Lock()
	defer k.mu.Unlock()
	sp := &k.spreading
	before := sp.owners[id]
	alike := metav1.FormatLabelSelector(before.selector) == metav1.FormatLabelSelector(now.selector) && (before.selector == nil) == (now.selector == nil)
	if alike && before.pods == now.pods && before.first == now.first {
		return
	}
	if sp.owners[id] = now; now.selector == nil {
		delete(sp.owners, id)
	}
	if !alike {
		for s := range sp.owned[id] {
			sp.stale[s] = struct{}{}
		}
	}
	// How many it wants decides whether one pod is the last of a Service, whether others come for evicted ones
	// and for those that went with their nodes, and which of its pods return.
	counts := (before.pods > 1) != (now.pods > 1) || len(k.lineage) > 0 || len(k.went) > 0
	returns := (id.kind == "StatefulSet" || (before.pods > 0) != (now.pods > 0)) && k.returnsChanged(id)
	if !alike && len(sp.owned[id]) > 0 || counts && len(k.subjects.in[id.namespace]) > 0 || returns {
		k.bump()
	}
}

// returnsChanged has the nodes of the pods of an owner shown anew: other pods of its
// may return than before. It reports whether there are any. Cost: linear in the pods of
// the namespace.
func (k *Keeper) returnsChanged(id ownerID) (found bool) {
	for s := range k.subjects.in[id.namespace] {
		if s.owner == id && s.node != "" {
			k.views.isOld(s.node)
			found = true
		}
	}
	return found
}

// returns reports whether the owner of a pod creates another in its place: a
// StatefulSet those of its ordinals, and none when it has been deleted, others as
// long as they want any. Owners that are not watched are taken to do so.
func (sp *spreading) returns(p *cluster.Pod, id ownerID) bool {
	of, known := sp.owners[id]
	switch {
	case id == ownerID{}:
		return true
	case id.kind != "StatefulSet":
		return !known || of.pods > 0
	case !known:
		return !p.Ending
	}
	return translate.IsMember(p.Name, id.name, of.first, of.pods)
}
