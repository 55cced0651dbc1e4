package snapshot

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/kube/translate"
)

// Memory is what a cluster state has seen and no object tells of any more: what a process
// that starts again would not know.
type Memory struct {
	Departures map[string]translate.Departure `json:"departures,omitempty"` // by name of the claim
	Moved      map[string]Moved               `json:"moved,omitempty"`      // by UID of the pod
	Made       map[string]Made                `json:"made,omitempty"`       // by owner, such as default/ReplicaSet/web-5d9c
}

// Moved tells of a pod that came in place of evicted ones.
type Moved struct {
	Times int       `json:"times"` // in a row
	At    time.Time `json:"at"`    // the last time
}

// memoryMost is how much of each kind is in a Memory, the latest: packed, some
// 500 KiB in all.
const memoryMost = 5000

// Memory returns what the cluster state has seen and what may still matter.
func (k *ClusterState) Memory() Memory {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	out := Memory{Departures: map[string]translate.Departure{}, Moved: map[string]Moved{}, Made: k.madeMatters()}
	for name, d := range k.departures {
		if now.Sub(d.At) <= rememberFor {
			out.Departures[name] = d
		}
	}
	for _, e := range k.pods {
		if m := (Moved{e.pod.Moved, e.pod.MovedAt}); m.Times > 0 && now.Sub(m.At) < disruption.Lately {
			out.Moved[e.pod.UID] = m
		}
	}
	latest(out.Departures, memoryMost, func(d translate.Departure) time.Time { return d.At }, strings.Compare)
	latest(out.Moved, memoryMost, func(m Moved) time.Time { return m.At }, strings.Compare)
	return out
}

// latest leaves out what is oldest of more than so many.
func latest[K comparable, V any](all map[K]V, most int, at func(V) time.Time, compare func(a, b K) int) {
	if len(all) <= most {
		return
	}
	names := slices.Collect(maps.Keys(all))
	slices.SortFunc(names, func(a, b K) int { return cmp.Or(at(all[b]).Compare(at(all[a])), compare(a, b)) })
	for _, name := range names[most:] {
		delete(all, name)
	}
}

// Remember takes in what another process has seen, where this one has not seen it
// itself. Pods must have been seen before.
func (k *ClusterState) Remember(m Memory) {
	k.mu.Lock()
	defer k.mu.Unlock()
	for name, d := range m.Departures {
		if _, known := k.departures[name]; !known {
			k.departures[name] = d
		}
	}
	for _, e := range maps.Clone(k.pods) {
		if was, reported := m.Moved[e.pod.UID]; reported && was.At.After(e.pod.MovedAt) {
			next := *e
			next.pod.Moved, next.pod.MovedAt = was.Times, was.At
			k.put(&next)
		}
	}
	k.rememberMade(m.Made)
	k.bump()
}
