package pods

import (
	"cmp"
	"time"

	"github.com/daemok/daemok/core/cluster"
)

// promiseFor is how long a pod may take to come to the node that kube-scheduler promised it, in
// status.nominatedNodeName, where nothing ends there to make room for it. A
// call that binds it may have failed, and the promise stays written then. The pod waits as
// any other from then on: where the node still has room it is placed there, and nothing is launched for it.
const promiseFor = time.Minute

// promisedAt notes since when the pod has the promise of its node.
func (p *Pod) promisedAt(before *Pod, now time.Time) {
	switch {
	case p.nominated == "":
	case before != nil && before.nominated == p.nominated && before.pod.UID == p.pod.UID:
		p.promised = before.promised
	default:
		p.promised = now
	}
}

// byPromise is the order in which promises are believed, as far as there is room: those of the
// most important pods first, then the oldest, then by namespace and name.
func byPromise(a, b *Pod) int {
	return cmp.Or(cmp.Compare(b.shaped.Shape().Priority, a.shaped.Shape().Priority), a.promised.Compare(b.promised), byEntry(a, b))
}

// isPromised reports whether the promise of the node counts: the node stays, it has room for the pod, and
// the pod has not had the promise for long, or others end there to make room for it. The scheduler evicts what
// is less important alone, and promises the node before it has done so: for promiseFor the room of all such
// pods is the promised one's, later that of those which end. Where others have taken the room, the pod
// waits. A promise of a saved snapshot always counts.
func (p *Pod) isPromised(n *cluster.Node, now time.Time) bool {
	if p.saved || n.Deleting {
		return p.saved
	}
	isNew, ends, free := now.Sub(p.promised) < promiseFor, false, n.Allocatable
	for i := range n.Pods {
		other := &n.Pods[i]
		isLess := other.Shape.Priority < p.shaped.Shape().Priority
		ends = ends || isLess && other.Ending
		if !isLess || !isNew && !other.Ending {
			free = free.Sub(other.Takes())
		}
	}
	return (isNew || ends) && p.shaped.Shape().Requests.FitsIn(free)
}
