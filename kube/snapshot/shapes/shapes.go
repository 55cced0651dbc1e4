// Package shapes finds the shape of each pod: what it requires of nodes and of other pods. Pods with
// equal requirements share one value.
//
// The shape of a pod also depends on other objects: selectors of other pods, namespaces, volumes,
// Services and owners. When one changes, only the pods concerned are re-checked, before the next
// snapshot.
package shapes

import (
	"iter"
	"maps"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/device"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/snapshot/owner"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// namespaces are selected by rules of pods.
type namespaces interface {
	Chosen(labels.Selector) []string
}

// volumes of pods ask something of nodes.
type volumes interface {
	AddVolumes(*cluster.Shape, []podspec.VolumeUse)
	WaiterChanged(claim types.NamespacedName) // a pod without a node has come, gone, or found its node
}

// devices that pods request, of nodes.
type devices interface {
	AddDevices(shape *cluster.Shape, uses []podspec.DeviceUse, placed bool)
}

// workloads give spread constraints to pods without any.
type workloads interface {
	SpreadByDefault() bool
	Spread(rules *podspec.Rules, namespace string, labels map[string]string, of owner.ID) podspec.Rules
}

// pods say what the pod asks for that comes in the place of one that asks for now.
type pods interface {
	ComesBack(of owner.ID, now quantity.Resources) quantity.Resources
}

// pdbs say which PodDisruptionBudgets a pod is under.
type pdbs interface {
	Over(namespace string, labels labels.Set) string
}

// nodes are to be looked at again when the shape of a pod on them has changed.
type nodes interface{ Changed(name string) }

// Table holds what has a shape. It is not safe for concurrent use. Build it with New and set the exported fields
// before anything is seen.
type Table struct {
	Namespaces namespaces
	Volumes    volumes
	Devices    devices
	Workloads  workloads
	Pods       pods
	PDBs       pdbs
	Nodes      nodes

	shapes   interner
	rules    rulebook
	entries  entries
	respread respread
	asking   map[owner.ID]struct{} // owners whose new pods ask for something else
}

// New returns an empty table.
func New() *Table {
	return &Table{rules: newRulebook(), entries: newEntries(), respread: newRespread(), asking: map[owner.ID]struct{}{}}
}

// Describe makes an entry say what a pod says now; nil stands for one that
// is new.
func (t *Table) Describe(e *Entry, pod *corev1.Pod) *Entry {
	rules := podspec.RulesOf(pod)
	next := Entry{Namespace: pod.Namespace, Node: pod.Spec.NodeName, Labels: pod.Labels, uses: podspec.VolumeUses(pod),
		devices: podspec.DeviceUses(pod), Owner: owner.Of(pod)}
	if t.Workloads.SpreadByDefault() && !rules.SpreadsItself() {
		own := rules
		next.own = &own
		rules = t.Workloads.Spread(&own, pod.Namespace, pod.Labels, next.Owner)
	}
	e, _ = t.become(e, next, rules)
	return e
}

// DescribeDaemon makes an entry say what the pods of a DaemonSet say, and
// reports whether anything changed. No pod has no entry.
func (t *Table) DescribeDaemon(e *Entry, pod *corev1.Pod) (*Entry, bool) {
	if pod == nil {
		t.Forget(e)
		return nil, e != nil
	}
	return t.become(e, Entry{Namespace: pod.Namespace, Labels: pod.Labels, daemon: true,
		devices: podspec.DaemonDeviceUses(pod)}, podspec.ForEveryNode(pod))
}

func (t *Table) become(e *Entry, next Entry, rules podspec.Rules) (*Entry, bool) {
	next.rules = t.rules.intern(rules, next.Namespace, &t.entries, t.Namespaces.Chosen)
	if e != nil && e.rules == next.rules && e.Owner == next.Owner && maps.Equal(e.Labels, next.Labels) &&
		slices.EqualFunc(e.uses, next.uses, podspec.VolumeUse.Equal) && slices.Equal(e.devices, next.devices) &&
		(len(e.devices) == 0 || (e.Node == "") == (next.Node == "")) {
		t.rules.release(next.rules, &t.entries)
		if e.Node != next.Node {
			t.waiterChanged(e)
		}
		e.Node, e.own, e.Labels, e.uses = next.Node, next.own, next.Labels, next.uses // so that the object seen before can go
		if e.shape != nil && !t.comesBack(e).Equal(device.Without(e.shape.Requests)) {
			t.entries.stale[e] = struct{}{}
		}
		return e, false
	}
	t.Forget(e)
	next.pdbs = t.PDBs.Over(next.Namespace, next.Labels)
	t.entries.add(&next)
	t.waiterChanged(&next)
	t.respread.follow(&next)
	return &next, true
}

// Forget takes an entry out; nil is none.
func (t *Table) Forget(e *Entry) {
	if e == nil {
		return
	}
	t.entries.remove(e)
	t.waiterChanged(e)
	t.respread.leave(e)
	t.shapes.release(e.shape)
	t.rules.release(e.rules, &t.entries)
}

func (t *Table) waiterChanged(e *Entry) {
	if e.Node != "" {
		return
	}
	for _, use := range e.uses {
		t.Volumes.WaiterChanged(use.Claim)
	}
}

// comesBack is what the pod asks for that comes in the place of an entry. One without a node is that pod.
func (t *Table) comesBack(e *Entry) quantity.Resources {
	if e.Node == "" || e.Owner == (owner.ID{}) {
		return e.rules.shape.Requests
	}
	return t.Pods.ComesBack(e.Owner, e.rules.shape.Requests)
}

// Has reports whether anything in a namespace has a shape.
func (t *Table) Has(namespace string) bool { return len(t.entries.in[namespace]) > 0 }

// In goes through what has a shape in a namespace, in no order.
func (t *Table) In(namespace string) iter.Seq[*Entry] { return maps.Keys(t.entries.in[namespace]) }

// NamespacesChanged looks up the namespaces that rules select, after a namespace or
// its labels changed; it reports whether any selection did.
func (t *Table) NamespacesChanged() bool {
	return t.rules.chooseAgain(&t.entries, t.Namespaces.Chosen)
}

// PDBsChanged asks again which PodDisruptionBudgets the pods of a namespace are under.
func (t *Table) PDBsChanged(namespace string) {
	for e := range t.entries.in[namespace] {
		before := e.pdbs
		if e.pdbs = both(e.recalledPDBs, t.PDBs.Over(namespace, e.Labels)); before != "" || e.pdbs != "" {
			t.Nodes.Changed(e.Node)
		}
	}
}

// ServicesChanged has the pods of a namespace spread again: other Services may select them.
func (t *Table) ServicesChanged(namespace string) { t.respread.in[namespace] = struct{}{} }

// SelectorChanged has the pods of an owner spread again that have the default spreads, and reports whether there
// are any.
func (t *Table) SelectorChanged(of owner.ID) (any bool) {
	maps.Copy(t.respread.stale, t.respread.owned[of])
	return len(t.respread.owned[of]) > 0
}

// RequestsChanged has the pods of an owner looked at again: its new ones ask for something else.
func (t *Table) RequestsChanged(of owner.ID) { t.asking[of] = struct{}{} }

// Claims goes through the PersistentVolumeClaims that pods use, in no order.
func (t *Table) Claims() iter.Seq[types.NamespacedName] { return maps.Keys(t.entries.claimUsers) }

// NodesOf goes through the nodes of the pods that use a claim, in no order; empty for one without a node.
func (t *Table) NodesOf(claim types.NamespacedName) iter.Seq[string] {
	return func(yield func(string) bool) {
		for e := range t.entries.claimUsers[claim] {
			if !yield(e.Node) {
				return
			}
		}
	}
}

// ClaimChanged has the pods that use a claim looked at again, and reports whether there are any.
func (t *Table) ClaimChanged(claim types.NamespacedName) bool { return t.entries.claimChanged(claim) }

// DeviceUsers goes through the pods with ResourceClaims, in no order.
func (t *Table) DeviceUsers() iter.Seq[*Entry] { return maps.Keys(t.entries.deviceUsers) }

// Extended are the extended resources that pods request, by name.
func (t *Table) Extended() map[string]bool {
	out := map[string]bool{}
	for _, shared := range t.rules.byKey {
		for _, e := range shared.shape.Requests.Extended {
			out[e.Name] = true
		}
	}
	return out
}

// WithoutDevices is the shape that the pod would have if it had no ResourceClaims.
func (t *Table) WithoutDevices(e *Entry) cluster.Shape {
	shape := e.rules.shape
	t.Volumes.AddVolumes(&shape, e.uses)
	return shape
}

// DevicesChanged has the pods with ResourceClaims looked at again.
func (t *Table) DevicesChanged() {
	for e := range t.entries.deviceUsers {
		t.entries.stale[e] = struct{}{}
	}
}

// Count is how many shapes there are.
func (t *Table) Count() int { return len(t.shapes.byKey) }
