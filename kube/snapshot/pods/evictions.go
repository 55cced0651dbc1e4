package pods

import (
	"cmp"
	"maps"
	"slices"
	"time"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/kube/snapshot/shapes"
)

// evictions are pods that were evicted so that their nodes could go, by owner,
// oldest first, until others have come in their place: nothing in a pod
// says that it was moved. What happened before this process is known from what
// another one remembers.
type evictions map[owned][]evicted

// owned are the pods of an owner of any kind, such as a ReplicaSet.
type owned struct{ namespace, owner string }

func (o owned) compare(p owned) int {
	return cmp.Or(cmp.Compare(o.namespace, p.namespace), cmp.Compare(o.owner, p.owner))
}

type evicted struct {
	pod    cluster.Pod
	shaped *shapes.Entry // what it was; nil where another process saw it
	at     time.Time
}

// trace keeps what is known of the moves of a pod, and records where a move of it
// begins. before is the pod as it was seen last, if it was; first is true while
// the watch lists what was there before.
func (t *Table) trace(p *cluster.Pod, before *Pod, now time.Time, first bool) {
	switch was := &before.pod; {
	case was.UID == p.UID:
		p.Moved, p.MovedAt = was.Moved, was.MovedAt
		if p.Ending && !was.Ending {
			t.leaves(before, now)
		}
	case !first:
		t.evictions.follow(p, now)
	}
}

// leaves records that a pod ends. It was moved if its node is to go, or has gone and left it
// to be collected.
func (t *Table) leaves(p *Pod, now time.Time) {
	is := &p.pod
	if is.Ending || !is.Returns || is.Owner == "" || !t.Nodes.Leaves(is.Node) {
		return
	}
	t.Shapes.Refresh() // its shape is what it was when it ended
	of := owned{is.Namespace, is.Owner}
	t.evictions[of] = append(t.evictions[of], evicted{*is, p.shaped, now})
}

// ForgetEvictions drops what was evicted long ago: nothing has come in its place.
func (t *Table) ForgetEvictions(now time.Time) {
	for of := range maps.Clone(t.evictions) {
		t.evictions.forgetOf(of, now)
	}
}

// follow has a new pod come in the place of the first that was evicted.
func (e evictions) follow(p *cluster.Pod, now time.Time) {
	of := owned{p.Namespace, p.Owner}
	e.forgetOf(of, now)
	if list := e[of]; len(list) > 0 && !p.Ending {
		disruption.Follow(p, &list[0].pod, list[0].at)
		e[of] = list[1:]
	}
}

func (e evictions) forgetOf(of owned, now time.Time) {
	e[of] = slices.DeleteFunc(e[of], func(one evicted) bool { return now.Sub(one.at) >= disruption.Lately })
	if len(e[of]) == 0 {
		delete(e, of)
	}
}

// Moved reports a pod that came in place of evicted ones.
type Moved struct {
	Times int       `json:"times"` // in a row
	At    time.Time `json:"at"`    // the last time
}

// Moved are the pods that came in place of evicted ones lately, by UID.
func (t *Table) Moved(now time.Time) map[string]Moved {
	out := map[string]Moved{}
	for _, p := range t.pods {
		m := Moved{p.pod.Moved, p.pod.MovedAt}
		if m.Times > 0 && now.Sub(m.At) < disruption.RememberedFor(m.Times) {
			out[p.pod.UID] = m
		}
	}
	return out
}

// RememberMoved takes in what another process has seen of the moves of pods, where it is newer.
func (t *Table) RememberMoved(list map[string]Moved) {
	for _, p := range maps.Clone(t.pods) {
		if was, known := list[p.pod.UID]; known && was.At.After(p.pod.MovedAt) {
			next := *p
			next.pod.Moved, next.pod.MovedAt = was.Times, was.At
			t.put(&next)
		}
	}
}
