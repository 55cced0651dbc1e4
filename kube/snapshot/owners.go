package snapshot

import (
	appsv1 "k8s.io/api/apps/v1"
	batchv1 "k8s.io/api/batch/v1"
	corev1 "k8s.io/api/core/v1"
	metav1 "k8s.io/apimachinery/pkg/apis/meta/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate"
)

// ReplicaSetSeen takes in a ReplicaSet. It must not be written any more.
func (k *ClusterState) ReplicaSetSeen(o *appsv1.ReplicaSet) {
	k.ownerIs(ownerID{o.Namespace, "ReplicaSet", o.Name}, &workload{o.Spec.Selector, translate.TemplateRequests(&o.Spec.Template), translate.WorkloadOf(o)})
}

// ReplicaSetGone takes in that a ReplicaSet was deleted.
func (k *ClusterState) ReplicaSetGone(namespace, name string) {
	k.ownerIs(ownerID{namespace, "ReplicaSet", name}, nil)
}

// StatefulSetSeen takes in a StatefulSet. It must not be written any more.
func (k *ClusterState) StatefulSetSeen(o *appsv1.StatefulSet) {
	k.ownerIs(ownerID{o.Namespace, "StatefulSet", o.Name}, &workload{o.Spec.Selector, translate.TemplateRequests(&o.Spec.Template), translate.WorkloadOf(o)})
}

// StatefulSetGone takes in that a StatefulSet was deleted.
func (k *ClusterState) StatefulSetGone(namespace, name string) {
	k.ownerIs(ownerID{namespace, "StatefulSet", name}, nil)
}

// ReplicationControllerSeen takes in a ReplicationController. It must not be
// written any more.
func (k *ClusterState) ReplicationControllerSeen(o *corev1.ReplicationController) {
	now := &workload{selector: &metav1.LabelSelector{MatchLabels: o.Spec.Selector}, Workload: translate.WorkloadOf(o)}
	if o.Spec.Template != nil {
		now.asks = translate.TemplateRequests(o.Spec.Template)
	}
	k.ownerIs(ownerID{o.Namespace, "ReplicationController", o.Name}, now)
}

// ReplicationControllerGone takes in that a ReplicationController was deleted.
func (k *ClusterState) ReplicationControllerGone(namespace, name string) {
	k.ownerIs(ownerID{namespace, "ReplicationController", name}, nil)
}

// JobSeen takes in a Job. It must not be written any more. One that is done is as good as
// gone: there are many.
func (k *ClusterState) JobSeen(o *batchv1.Job) {
	now := &workload{nil, translate.TemplateRequests(&o.Spec.Template), translate.WorkloadOf(o)} // whom it chooses is nothing that the scheduler asks
	if now.IsDone() {
		now = nil
	}
	k.ownerIs(ownerID{o.Namespace, "Job", o.Name}, now)
}

// JobGone takes in that a Job was deleted.
func (k *ClusterState) JobGone(namespace, name string) {
	k.ownerIs(ownerID{namespace, "Job", name}, nil)
}

// ownerIs takes in what an owner says; nil: it is gone.
func (k *ClusterState) ownerIs(id ownerID, now *workload) {
	k.mu.Lock()
	defer k.mu.Unlock()
	sp := &k.spreading
	before, known := sp.owners[id]
	if delete(sp.owners, id); now != nil {
		sp.owners[id] = *now
	}
	is, stays := sp.owners[id]
	chooses := metav1.FormatLabelSelector(before.selector) == metav1.FormatLabelSelector(is.selector) && known == stays
	asks := before.asks.Equal(is.asks)
	if chooses && asks && before.Workload == is.Workload {
		return
	}
	if !asks {
		k.askAfresh(id)
	}
	if !chooses {
		for s := range sp.owned[id] {
			sp.stale[s] = struct{}{}
		}
	}
	surplus := k.recordSurplus(id)
	// How many it wants decides whether one pod is the last of a Service, whether others come for evicted ones
	// and for those that went with their nodes, and which of its pods return.
	was, wants := before.Wants(), is.Wants()
	counts := (was > 1) != (wants > 1) || was != wants && len(k.evictions)+len(k.went) > 0
	returns := !(known == stays && before.Alike(&is.Workload)) && k.returnsChanged(id)
	if !chooses && len(sp.owned[id]) > 0 || !asks && k.alive[id] > 0 || counts && len(k.subjects.in[id.namespace]) > 0 || returns || surplus {
		k.bump()
	}
}

// returnsChanged has the nodes of the pods of an owner shown again: other pods of its
// may return than before. It reports whether there are any. Cost: linear in the pods of
// the namespace.
func (k *ClusterState) returnsChanged(id ownerID) (found bool) {
	for s := range k.subjects.in[id.namespace] {
		if s.owner == id && s.node != "" {
			k.views.isOld(s.node)
			found = true
		}
	}
	return found
}

// judge says of a pod on a node whether its owner creates another in its place. An owner
// that is not there is gone, and its pods are collected; those of kinds that are not
// watched are taken to create their pods again.
func (sp *spreading) judge(p *cluster.Pod, e *podEntry) {
	if id := e.subject.owner; id != (ownerID{}) {
		of := sp.owners[id]
		of.Judge(p, id.name, e.says)
	}
}

// creates reports whether the owner of a pod that has been evicted may create it again.
func (sp *spreading) creates(p *cluster.Pod, id ownerID) bool {
	of := sp.owners[id]
	return of.IsMember(p.Name, id.name)
}
