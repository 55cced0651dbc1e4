package snapshot

import (
	"cmp"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/daemok/daemok/kube/snapshot/change"
	"github.com/daemok/daemok/kube/snapshot/pods"
	"github.com/daemok/daemok/kube/translate"
)

// Memory is what a cluster state has seen and no object shows any more: what a process
// that starts again would not know.
type Memory struct {
	Departures map[string]translate.Departure `json:"departures,omitempty"` // by name of the claim
	Moved      map[string]pods.Moved          `json:"moved,omitempty"`      // by UID of the pod
	Made       map[string]pods.Made           `json:"made,omitempty"`       // by owner, such as default/ReplicaSet/web-5d9c
}

// memoryMost is how much of each kind is in a Memory, the latest: packed, some
// 500 KiB in all.
const memoryMost = 5000

// Memory returns what the cluster state has seen and what may still matter.
func (k *ClusterState) Memory() Memory {
	k.mu.Lock()
	defer k.mu.Unlock()
	now := k.now()
	out := Memory{Departures: k.tables.claims.Memory(now), Moved: k.tables.pods.Moved(now), Made: k.tables.pods.MadeMatters()}
	latest(out.Departures, memoryMost, func(d translate.Departure) time.Time { return d.At }, strings.Compare)
	latest(out.Moved, memoryMost, func(m pods.Moved) time.Time { return m.At }, strings.Compare)
	latest(out.Made, memoryMost, func(m pods.Made) time.Time { return m.At }, strings.Compare)
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
	k.apply(func() change.Effect {
		k.tables.claims.Remember(m.Departures)
		k.tables.pods.RememberMoved(m.Moved)
		k.tables.pods.RememberMade(m.Made)
		return change.Planned
	})
}
