package snapshot

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate"
)

// ActAs names the pod that this process runs in; without a name it runs in
// none, and no node is kept for its sake. It is called before anything is seen.
func (k *Keeper) ActAs(pod types.NamespacedName) { k.self = pod }

// isReplica reports whether a pod is of the workload that this process is.
func (k *Keeper) isReplica(name types.NamespacedName, e podEntry) bool {
	if k.self.Name == "" || name.Namespace != k.self.Namespace || e.subject == nil {
		return false
	}
	self := k.pods[k.self]
	return self.subject != nil && translate.AreReplicas(self.subject.labels, e.subject.labels)
}

// isUp reports whether a replica can act, or take over, at once. This process
// acts.
func (k *Keeper) isUp(name types.NamespacedName, e podEntry) bool {
	p := &e.pod
	if p.Node == "" || p.Ending {
		return false
	}
	node := k.nodes[p.Node]
	return name == k.self || !p.Unready && !p.StartedAt.IsZero() && node != nil && translate.IsReady(node)
}

// replicas are those of the controller.
type replicas struct {
	count int
	up    map[string]bool // nodes on which one is up
}

func (b *builder) noteReplica(name types.NamespacedName, e podEntry) {
	if !b.k.isReplica(name, e) {
		return
	}
	if b.replicas.count++; b.k.isUp(name, e) {
		b.replicas.up[e.pod.Node] = true
	}
}

// controllers shows on which nodes replicas of the controller are up. It comes
// after all pods were seen.
func (b *builder) controllers() {
	for node := range b.replicas.up {
		at, shown := b.nodeAt[node]
		switch {
		case !shown:
		case b.replicas.count == 1:
			b.out.Nodes[at].Controller = cluster.OnlySeat
		default:
			b.out.Nodes[at].Controller = cluster.OneSeat
		}
	}
}
