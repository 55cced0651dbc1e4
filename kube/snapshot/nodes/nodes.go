// Package nodes is the table of nodes: their objects, when pods came and went, which nodes are gone,
// and what the last snapshot showed of each.
package nodes

import (
	"cmp"
	"iter"
	"maps"
	"reflect"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/disruption"
	"github.com/daemok/daemok/kube/api"
	karpv1 "github.com/daemok/daemok/kube/api/karpenter/v1"
	"github.com/daemok/daemok/kube/translate"
)

// Table holds nodes. It is not safe for concurrent use. Build it with New.
type Table struct {
	views  map[string]*View
	sorted []*View // by name
	rounds Rounds

	went      map[string]time.Time // nodes that were to go and have gone, and when
	podEvents map[string]time.Time // by node: when a pod last came or went
}

// Rounds grow when more than one node is concerned.
type Rounds struct {
	Joins uint64 // another set of nodes is there, or one has joined
	All   uint64 // all are to be looked at again
}

// View is a node, and what snapshots show of it, kept from one snapshot to the next. What is
// worked out of single objects is kept as long as these are the same. What was shown once is never written.
type View struct {
	Node  *corev1.Node
	Claim *karpv1.NodeClaim // of its instance, as the reader has set it; nil: none

	old  bool // something beside these has changed
	from Basis
	is   cluster.Node // what is shown, without its pods
}

// Basis is what a node is shown by.
type Basis struct {
	Node   *corev1.Node
	Claim  *karpv1.NodeClaim
	Awaits bool // pods of others that leave
	Round  uint64
}

// New returns an empty table.
func New() *Table {
	return &Table{views: map[string]*View{}, went: map[string]time.Time{}, podEvents: map[string]time.Time{}}
}

// Seen takes in a node, which must not be written any more. It reports false where only its heartbeat is another.
func (t *Table) Seen(n *corev1.Node) bool {
	v := t.views[n.Name]
	var before *corev1.Node
	if v == nil {
		v = &View{}
		t.views[n.Name] = v
		at, _ := slices.BinarySearchFunc(t.sorted, n.Name, byName)
		t.sorted = slices.Insert(t.sorted, at, v)
	} else {
		before = v.Node
	}
	v.Node = n
	delete(t.went, n.Name)
	if before == nil || before.Spec.ProviderID != n.Spec.ProviderID || !sameStanding(before, n) {
		t.rounds.Joins++
	}
	return before == nil || !translate.SameHealth(before, n) || !translate.SameWords(before, n) || !reflect.DeepEqual(translate.Node(before, nil, false), translate.Node(n, nil, false))
}

// Gone takes in that a node was deleted. Pods that it was to let go are left to the garbage
// collector, which ends them later.
func (t *Table) Gone(name string, now time.Time) {
	maps.DeleteFunc(t.went, func(_ string, at time.Time) bool { return now.Sub(at) >= disruption.Lately })
	if isToGo(t.Node(name)) {
		t.went[name] = now
	}
	delete(t.podEvents, name)
	if at, found := slices.BinarySearchFunc(t.sorted, name, byName); found {
		t.sorted = slices.Delete(t.sorted, at, at+1)
		delete(t.views, name)
	}
	t.rounds.Joins++
}

func byName(v *View, name string) int { return cmp.Compare(v.Node.Name, name) }

// sameStanding reports whether two states of a node are alike for whether it has joined.
func sameStanding(a, b *corev1.Node) bool {
	return a.Labels[api.LabelRegistered] == b.Labels[api.LabelRegistered] && translate.HasTaint(a, api.TaintUnregistered) == translate.HasTaint(b, api.TaintUnregistered)
}

// isToGo reports whether a node that is there goes: it carries the taint of those, or is
// deleted. Its pods are evicted right after it was tainted, so that the watch of pods may show
// that before the watch of nodes shows the taint; that it is deleted was shown before.
func isToGo(n *corev1.Node) bool {
	return n != nil && translate.IsLeaving(n)
}

// Node is a node that is there; otherwise nil.
func (t *Table) Node(name string) *corev1.Node {
	if v := t.views[name]; v != nil {
		return v.Node
	}
	return nil
}

// All goes through the nodes by name.
func (t *Table) All() iter.Seq[*corev1.Node] {
	return func(yield func(*corev1.Node) bool) {
		for _, v := range t.sorted {
			if !yield(v.Node) {
				return
			}
		}
	}
}

// Leaves reports whether a node is to go, or was to go and has gone.
func (t *Table) Leaves(name string) bool {
	_, went := t.went[name]
	return went || isToGo(t.Node(name))
}

// IsReady reports whether a node is there and ready.
func (t *Table) IsReady(name string) bool {
	n := t.Node(name)
	return n != nil && translate.IsReady(n)
}

// Missed takes a node that is not there for one that was to go and has gone: this process
// has come later. It reports false where it is there.
func (t *Table) Missed(name string, now time.Time) bool {
	if t.views[name] != nil {
		return false
	}
	t.went[name] = now
	return true
}

// Went are the nodes that were to go and have gone, and when. It must not be written.
func (t *Table) Went() map[string]time.Time { return t.went }

// PodEvent takes in that a pod came to or left a node.
func (t *Table) PodEvent(name string, at time.Time) { t.podEvents[name] = at }

// LastPodEvent is when a pod last came to or left the node; zero if none has.
func (t *Table) LastPodEvent(name string) time.Time { return t.podEvents[name] }

// Changed has a node looked at again: its pods, or what they use, have changed.
func (t *Table) Changed(name string) {
	if v := t.views[name]; v != nil {
		v.old = true
	}
}

// AllChanged has all nodes looked at again.
func (t *Table) AllChanged() { t.rounds.All++ }

// Rounds reports whether anything has changed since it returned the same.
func (t *Table) Rounds() Rounds { return t.rounds }

// Views are the nodes by name. The list must not be written.
func (t *Table) Views() []*View { return t.sorted }

// Look finds out what is shown of the node, where that may have changed.
func (v *View) Look(from Basis, show func() cluster.Node) cluster.Node {
	if v.old || v.from != from {
		v.is, v.from, v.old = show(), from, false
	}
	return v.is
}
