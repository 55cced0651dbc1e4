package snapshot

import (
	"strings"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/translate"
)

// asks is what pods of owners ask for when they are made. What a pod asks for may be
// changed later while it runs, as when a boost for its start ends; the pod that comes in
// its place is made again.
type asks struct {
	made  map[ownerID]made
	stale map[ownerID]struct{} // whose pods are to be looked at again
}

// made is what the newest pod of an owner asked for when it was made.
type made struct {
	requests quantity.Resources
	at       time.Time
}

// Made is that, for those who come after.
type Made struct {
	Requests corev1.ResourceList `json:"requests"`
	At       time.Time           `json:"at"`
}

func newAsks() asks { return asks{made: map[ownerID]made{}, stale: map[ownerID]struct{}{}} }

// comesBack is what the pod asks for that comes in the place of a subject. This is the one
// rule for that: what the newest pod of its owner asked for when it was made or, where that
// was not seen, what the template of the owner says; and never less than it asks for now,
// since what raised that may raise the next one as well. One without a node is that pod.
func (k *ClusterState) comesBack(s *subject) quantity.Resources {
	now := s.rules.shape.Requests
	if s.node == "" || s.owner == (ownerID{}) {
		return now
	}
	if m, known := k.asks.made[s.owner]; known {
		return now.Max(m.requests)
	}
	return now.Max(k.spreading.owners[s.owner].asks)
}

// recordMade takes in what a pod asked for when it was made, where it still says that. Of
// several that were made in the same second it is the most of each resource.
func (k *ClusterState) recordMade(s *subject, pod *corev1.Pod) {
	if s.owner == (ownerID{}) || !translate.IsAsMade(pod) {
		return
	}
	before, known := k.asks.made[s.owner]
	is := made{s.rules.shape.Requests, pod.CreationTimestamp.UTC()}
	if known && is.at.Before(before.at) {
		return
	}
	if known && is.at.Equal(before.at) {
		is.requests = is.requests.Max(before.requests)
	}
	k.setMade(s.owner, is)
}

func (k *ClusterState) setMade(id ownerID, is made) {
	before, known := k.asks.made[id]
	k.asks.made[id] = is
	if !known || !is.requests.Equal(before.requests) {
		k.askAfresh(id)
	}
}

// askAfresh has the pods of an owner looked at again, where it has others than one that is
// new.
func (k *ClusterState) askAfresh(id ownerID) {
	if k.alive[id] > 0 {
		k.asks.stale[id] = struct{}{}
	}
}

// forgetMade forgets what pods of an owner asked for that has none any more.
func (k *ClusterState) forgetMade(id ownerID) {
	if k.alive[id] == 0 {
		delete(k.asks.made, id)
	}
}

// askAgain finds the pods of owners whose new pods ask for something else. Cost: linear
// in the pods of their namespaces.
func (k *ClusterState) askAgain() {
	in := map[string]bool{}
	for id := range k.asks.stale {
		in[id.namespace] = true
	}
	for namespace := range in {
		for s := range k.subjects.in[namespace] {
			if _, other := k.asks.stale[s.owner]; other {
				k.subjects.stale[s] = struct{}{}
			}
		}
	}
	clear(k.asks.stale)
}

// madeMatters lists what no pod says any more: of owners with a pod that asks for less by now.
func (k *ClusterState) madeMatters() map[string]Made {
	out := map[string]Made{}
	for _, e := range k.pods {
		if !e.lives() {
			continue
		}
		id := e.subject.owner
		if m, known := k.asks.made[id]; known && !e.subject.rules.shape.Requests.Equal(k.comesBack(e.subject)) {
			out[id.namespace+"/"+id.kind+"/"+id.name] = Made{translate.ResourceList(m.requests), m.at}
		}
	}
	latest(out, memoryMost, func(m Made) time.Time { return m.At }, strings.Compare)
	return out
}

// rememberMade takes in what pods asked for that are newer than those that this process
// has seen as they were made.
func (k *ClusterState) rememberMade(list map[string]Made) {
	for name, m := range list {
		namespace, rest, _ := strings.Cut(name, "/")
		kind, of, _ := strings.Cut(rest, "/")
		id := ownerID{namespace, kind, of}
		if before, known := k.asks.made[id]; k.alive[id] > 0 && (!known || before.at.Before(m.At)) {
			k.setMade(id, made{translate.Resources(m.Requests), m.At})
		}
	}
}
