package snapshot

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate"
)

// ActAs names the pod that this process runs in; without a name it runs in
// none, and no node is kept for its sake. It is called before anything is seen.
func (k *ClusterState) ActAs(pod types.NamespacedName) { k.self = pod }

// isReplica reports whether a pod is of the workload that this process is.
func (k *ClusterState) isReplica(e *podEntry) bool {
	if k.self.Name == "" || e.name.Namespace != k.self.Namespace || e.subject == nil {
		return false
	}
	self := k.pods[k.self]
	return self != nil && self.subject != nil && translate.AreReplicas(self.subject.labels, e.subject.labels)
}

// recordMate keeps whether a pod that was seen is a replica.
func (k *ClusterState) recordMate(e *podEntry) {
	switch {
	case e.name == k.self:
		k.matesAgain()
	case k.isReplica(e):
		k.mates[e.name] = struct{}{}
	default:
		delete(k.mates, e.name)
	}
}

// mateGone takes in that a pod is gone.
func (k *ClusterState) mateGone(name types.NamespacedName) {
	if delete(k.mates, name); name == k.self {
		k.matesAgain()
	}
}

// matesAgain looks for the replicas, after the pod of this process has changed.
func (k *ClusterState) matesAgain() {
	clear(k.mates)
	for name, e := range k.pods {
		if k.isReplica(e) {
			k.mates[name] = struct{}{}
		}
	}
}

// isUp reports whether a replica can act, or take over, at once. This process
// acts.
func (k *ClusterState) isUp(e *podEntry) bool {
	p := &e.pod
	if p.Node == "" || p.Ending {
		return false
	}
	node := k.nodes[p.Node]
	return e.name == k.self || !p.Unready && !p.StartedAt.IsZero() && node != nil && translate.IsReady(node)
}

// controllers shows on which nodes replicas of the controller are up.
func (b *builder) controllers() {
	target := cluster.OneReplica
	if len(b.k.mates) == 1 {
		target = cluster.OnlyReplica
	}
	for name := range b.k.mates {
		if e := b.k.pods[name]; b.k.isUp(e) {
			if node := b.at(e.pod.Node); node != nil {
				node.Controller = target
			}
		}
	}
}
