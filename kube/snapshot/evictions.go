package snapshot

import (
	"cmp"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate"
)

// evictions are pods that were evicted so that their nodes could go, by whose they
// were, oldest first, until others have come in their place: nothing in a pod
// says that it was moved. What happened before this process is known from what
// another one remembers.
type evictions map[owner][]evicted

// owner is whose pods are, such as a ReplicaSet.
type owner struct{ namespace, name string }

func (o owner) compare(p owner) int {
	return cmp.Or(cmp.Compare(o.namespace, p.namespace), cmp.Compare(o.name, p.name))
}

type evicted struct {
	pod     cluster.Pod
	subject *subject // what it was; nil where another process saw it
	at      time.Time
}

// trace keeps what is known of the moves of a pod, and notes where a move of it
// begins. before is the pod as it was seen last, if it was; first is true while
// the watch lists what was there before.
func (k *ClusterState) trace(p *cluster.Pod, before *podEntry, first bool) {
	switch was := &before.pod; {
	case was.UID == p.UID:
		p.Moved, p.MovedAt = was.Moved, was.MovedAt
		if p.Ending && !was.Ending {
			k.leaves(before)
		}
	case !first:
		k.evictions.follow(p, k.now())
	}
}

// leaves notes that a pod ends. It was moved if its node is to go, or has gone and left it
// to be collected.
func (k *ClusterState) leaves(e *podEntry) {
	p := &e.pod
	if _, went := k.went[p.Node]; p.Ending || !p.Returns || p.Owner == "" || !went && !isToGo(k.nodes[p.Node]) {
		return
	}
	k.reshape() // its shape is what it was when it ended
	of := owner{p.Namespace, p.Owner}
	k.evictions[of] = append(k.evictions[of], evicted{*p, e.subject, k.now()})
}

// isToGo reports whether a node that is there goes: it carries the mark of those, or is
// deleted. Its pods are evicted right after it was marked, so that the watch of pods may show
// that before the watch of nodes shows the mark; that it is deleted was shown before.
func isToGo(n *corev1.Node) bool {
	return n != nil && (n.DeletionTimestamp != nil || translate.HasTaint(n, api.TaintDisrupted))
}

// nodeWent notes that a node has gone: pods that it was to let go are left to the garbage
// collector, which ends them later.
func (k *ClusterState) nodeWent(name string) {
	now := k.now()
	maps.DeleteFunc(k.went, func(_ string, at time.Time) bool { return now.Sub(at) >= disruption.Lately })
	if isToGo(k.nodes[name]) {
		k.went[name] = now
	}
}

// missNodes takes nodes that pods are on and that are not there for ones that were to go and have gone: this process
// has come later.
func (k *ClusterState) missNodes() {
	k.mu.Lock()
	defer k.mu.Unlock()
	for name, v := range k.views.of {
		if v.node == nil && len(v.pods) > 0 {
			k.went[name] = k.now()
			k.bump()
		}
	}
}

// follow has a new pod come in the place of the first that was evicted.
func (l evictions) follow(p *cluster.Pod, now time.Time) {
	of := owner{p.Namespace, p.Owner}
	l.forgetOf(of, now)
	if list := l[of]; len(list) > 0 && !p.Ending {
		disruption.Follow(p, &list[0].pod, list[0].at)
		l[of] = list[1:]
	}
}

// forget drops what was evicted long ago: nothing has come in its place.
func (l evictions) forget(now time.Time) {
	for of := range maps.Clone(l) {
		l.forgetOf(of, now)
	}
}

func (l evictions) forgetOf(of owner, now time.Time) {
	l[of] = slices.DeleteFunc(l[of], func(e evicted) bool { return now.Sub(e.at) >= disruption.Lately })
	if len(l[of]) == 0 {
		delete(l, of)
	}
}
