package pods

import (
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// replicas are the pods of the controller: those of the workload that this process is of.
type replicas struct {
	Self types.NamespacedName // the pod that this process runs in; empty: none. Set before anything is seen

	nodes nodes
	pods  map[types.NamespacedName]*Pod // of the table
	found map[types.NamespacedName]struct{}
}

// isReplica reports whether a pod is of the workload that this process is.
func (r *replicas) isReplica(e *Pod) bool {
	if r.Self.Name == "" || e.name.Namespace != r.Self.Namespace || e.shaped == nil {
		return false
	}
	self := r.pods[r.Self]
	return self != nil && self.shaped != nil && podspec.AreReplicas(self.shaped.Labels, e.shaped.Labels)
}

// recordReplica keeps whether a pod that was seen is a replica.
func (r *replicas) recordReplica(e *Pod) {
	switch {
	case e.name == r.Self:
		r.findReplicas()
	case r.isReplica(e):
		r.found[e.name] = struct{}{}
	default:
		delete(r.found, e.name)
	}
}

// replicaGone takes in that a pod is gone.
func (r *replicas) replicaGone(name types.NamespacedName) {
	if delete(r.found, name); name == r.Self {
		r.findReplicas()
	}
}

// findReplicas looks for the replicas, after the pod of this process has changed.
func (r *replicas) findReplicas() {
	clear(r.found)
	for name, e := range r.pods {
		if r.isReplica(e) {
			r.found[name] = struct{}{}
		}
	}
}

// isUp reports whether a replica can act, or take over, at once. This process
// acts.
func (r *replicas) isUp(e *Pod) bool {
	p := &e.pod
	if p.Node == "" || p.Ending {
		return false
	}
	return e.name == r.Self || !p.Unready && !p.StartedAt.IsZero() && r.nodes.IsReady(p.Node)
}

// controllers shows on which nodes replicas of the controller are up.
func (s *showing) controllers() {
	as := cluster.OneReplica
	if len(s.found) == 1 {
		as = cluster.OnlyReplica
	}
	for name := range s.found {
		if e := s.pods[name]; s.isUp(e) {
			if node := s.at(e.pod.Node); node != nil {
				node.Controller = as
			}
		}
	}
}
