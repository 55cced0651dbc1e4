package snapshot

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/retire"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate"
)

// lineage are pods that were evicted so that their nodes could go, by whose they
// were, oldest first, until others have come in their place: nothing in a pod
// says that it was moved. What happened before this process is known from what
// another one remembers.
type lineage map[owner][]evicted

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
func (k *Keeper) trace(p *cluster.Pod, before *podEntry, first bool) {
	switch was := &before.pod; {
	case was.UID == p.UID:
		p.Moved, p.MovedAt, p.Since = was.Moved, was.MovedAt, was.Since
		if p.Ending && !was.Ending {
			k.leaves(before)
		}
	case !first:
		k.lineage.follow(p, k.now())
	}
}

// leaves notes that a pod ends. It was moved if its node is to go.
func (k *Keeper) leaves(e *podEntry) {
	p := &e.pod
	node := k.nodes[p.Node]
	if p.Ending || !p.Returns || p.Owner == "" || node == nil || !translate.HasTaint(node, api.TaintDisrupted) {
		return
	}
	k.reshape() // its shape is what it was when it ended
	of := owner{p.Namespace, p.Owner}
	k.lineage[of] = append(k.lineage[of], evicted{*p, e.subject, k.now()})
}

// follow has a new pod come in the place of the first that was evicted.
func (l lineage) follow(p *cluster.Pod, now time.Time) {
	of := owner{p.Namespace, p.Owner}
	l.forgetOf(of, now)
	if list := l[of]; len(list) > 0 && !p.Ending {
		retire.Follow(p, &list[0].pod, list[0].at)
		l[of] = list[1:]
	}
}

// forget drops what was evicted long ago: nothing has come in its place.
func (l lineage) forget(now time.Time) {
	for of := range maps.Clone(l) {
		l.forgetOf(of, now)
	}
}

func (l lineage) forgetOf(of owner, now time.Time) {
	l[of] = slices.DeleteFunc(l[of], func(e evicted) bool { return now.Sub(e.at) >= retire.Lately })
	if len(l[of]) == 0 {
		delete(l, of)
	}
}
