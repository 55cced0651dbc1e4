package snapshot

import (
	"slices"
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

// isPromised reports whether the promise of the node counts: it stays, and the pod has not had it for long,
// or others end there. That of a saved snapshot always does.
func (e *podEntry) isPromised(n *cluster.Node, now time.Time) bool {
	if e.saved || n.Deleting {
		return e.saved
	}
	ends := func(p cluster.Pod) bool { // to make room: the scheduler evicts what is less important alone
		return p.Ending && p.Shape.Priority < e.subject.shape.Priority
	}
	return now.Sub(e.promised) < promiseFor || slices.ContainsFunc(n.Pods, ends)
}
