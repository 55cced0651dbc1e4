package pods

import (
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/snapshot/owner"
)

// owners is what is counted of the pods of each owner.
type owners struct {
	Parts

	alive   map[owner.ID]int32    // how many of them do not end
	surplus map[owner.ID]struct{} // those with more than they want
	made    map[owner.ID]made     // what their newest pods asked for
}

// recordSurplus takes in that an owner wants others, or has others, and reports whether it
// has more pods than it wants now, or had. Of one that wants none no pod returns in any
// event; those of a StatefulSet are known by their ordinals; and a Job that counts a pod as
// done may know of its end before the watch of pods does.
func (o *owners) recordSurplus(id owner.ID) bool {
	_, had := o.surplus[id]
	of, known := o.Workloads.Workload(id)
	has := known && (id.Kind == "ReplicaSet" || id.Kind == "ReplicationController") && of.Wants() > 0 && o.alive[id] > of.Wants()
	if delete(o.surplus, id); has {
		o.surplus[id] = struct{}{}
	}
	return had || has
}

// wants is how many pods an owner keeps; 0 where it is not known.
func (o *owners) wants(of owner.ID) int32 {
	is, _ := o.Workloads.Workload(of)
	return is.Wants()
}

// creates reports whether the owner of a pod that has been evicted may create it again.
func (o *owners) creates(p *cluster.Pod, of owner.ID) bool {
	is, _ := o.Workloads.Workload(of)
	return is.IsMember(p.Name, of.Name)
}

// judge says of a pod on a node whether its owner creates another in its place. An owner
// that is not there is gone, and its pods are collected; those of kinds that are not
// watched are taken to create their pods again.
func (o *owners) judge(out *cluster.Pod, p *Pod) {
	if id := p.shaped.Owner; id != (owner.ID{}) {
		of, _ := o.Workloads.Workload(id)
		of.Judge(out, id.Name, p.says)
	}
}
