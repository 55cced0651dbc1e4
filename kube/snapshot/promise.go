package snapshot

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
func (e *podEntry) promisedAt(before *podEntry, now time.Time) {
	switch {
	case e.nominated == "":
	case before != nil && before.nominated == e.nominated && before.pod.UID == e.pod.UID:
		e.promised = before.promised
	default:
		e.promised = now
	}
}

// byPromise is the order in which promises are believed, as far as there is room: those of the
// most important pods first, then the oldest, then by namespace and name.
func byPromise(a, b *podEntry) int {
	return cmp.Or(cmp.Compare(b.subject.shape.Priority, a.subject.shape.Priority), a.promised.Compare(b.promised), byEntry(a, b))
}

// isPromised reports whether the promise of the node counts: the node stays, it has room for the pod, and
// the pod has not had the promise for long, or others end there to make room for it. The scheduler evicts what
// is less important alone, and promises the node before it has done so: for promiseFor the room of all such
// pods is the promised one's, later that of those which end. Where others have taken the room, the pod
// waits. A promise of a saved snapshot always counts.
func (e *podEntry) isPromised(n *cluster.Node, now time.Time) bool {
	if e.saved || n.Deleting {
		return e.saved
	}
	isNew, ends, free := now.Sub(e.promised) < promiseFor, false, n.Allocatable
	for i := range n.Pods {
		p := &n.Pods[i]
		isLess := p.Shape.Priority < e.subject.shape.Priority
		ends = ends || isLess && p.Ending
		if !isLess || !isNew && !p.Ending {
			free = free.Sub(p.Takes())
		}
	}
	return (isNew || ends) && e.subject.shape.Requests.FitsIn(free)
}
