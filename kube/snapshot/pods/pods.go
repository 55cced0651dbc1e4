// Package pods is the table of pods: the node of each, or that it is pending, and which pods replace
// others. It also counts how many pods of each owner exist, and which were evicted. It holds core
// values of pods, not the raw objects.
package pods

import (
	"cmp"
	"iter"
	"maps"
	"slices"
	"time"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/snapshot/change"
	"github.com/daemok/daemok/kube/snapshot/owner"
	"github.com/daemok/daemok/kube/snapshot/shapes"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// workloads say what owners say of pods, and which Services select them.
type workloads interface {
	Workload(of owner.ID) (w owner.Workload, known bool)
	Services(namespace string, labels map[string]string) []types.NamespacedName
	Selects(service types.NamespacedName, labels map[string]string) bool
}

// nodes are looked at again when their pods change, and say how they are.
type nodes interface {
	Changed(name string)
	PodEvent(name string, at time.Time)
	Leaves(name string) bool
	IsReady(name string) bool
}

// claims say whether any was made for a pod.
type claims interface{ MadeFor(podUID string) bool }

// pdbs are PodDisruptionBudgets by name.
type pdbs interface {
	Named(namespace, name string) *cluster.PodDisruptionBudget
}

// Parts are what the table reads of others.
type Parts struct {
	Shapes    *shapes.Table
	Workloads workloads
	Nodes     nodes
	Claims    claims
	PDBs      pdbs
}

// Table holds pods. It is not safe for concurrent use. Build it with New.
type Table struct {
	owners
	replicas

	pods      map[types.NamespacedName]*Pod // never written: one that changed is another
	unbound   map[types.NamespacedName]bool // pods without a node
	onNodes   map[string]*onNode
	evictions evictions                        // pods that were evicted, and have no successor yet
	misread   map[types.NamespacedName]misread // what pods say and is not understood
}

// New returns an empty table.
func New(parts Parts) *Table {
	all := map[types.NamespacedName]*Pod{}
	return &Table{
		owners:   owners{Parts: parts, alive: map[owner.ID]int32{}, surplus: map[owner.ID]struct{}{}, made: map[owner.ID]made{}},
		replicas: replicas{nodes: parts.Nodes, pods: all, found: map[types.NamespacedName]struct{}{}},
		pods:     all, unbound: map[types.NamespacedName]bool{}, onNodes: map[string]*onNode{}, evictions: evictions{}, misread: map[types.NamespacedName]misread{},
	}
}

// Pod is what is known of a pod.
type Pod struct {
	name      types.NamespacedName // of the pod, unless that was taken in a saved snapshot
	pod       cluster.Pod          // without its shape and PDBs
	shaped    *shapes.Entry        // nil for one that ended
	waiting   bool                 // the scheduler found no place
	unjudged  bool                 // the scheduler has not looked yet
	seenAt    time.Time            // first seen without a node
	cameAt    time.Time            // came, as far as this process knows
	ended     bool                 // succeeded or failed: holds nothing any more
	nominated string
	promised  time.Time // first seen with that node
	saved     bool      // taken from a saved snapshot, which says where it counts
	up        bool      // it is ready
	cost      int32     // its deletion cost, whatever set it
	keeps     keeping
	says      podspec.Standing
}

// Read is what a pod says by itself. It needs no table.
func Read(pod *corev1.Pod, now time.Time, autoscaler mark.ClusterAutoscaler) *Pod {
	p := podspec.Pod(pod, now, autoscaler)
	return &Pod{name: types.NamespacedName{Namespace: pod.Namespace, Name: pod.Name}, pod: p, waiting: podspec.IsWaiting(pod), ended: podspec.IsTerminal(pod), nominated: pod.Status.NominatedNodeName,
		up: podspec.IsUp(pod), cost: podspec.DeletionCost(pod), keeps: keepingOf(pod), says: podspec.StandingOf(pod, autoscaler),
		unjudged: podspec.IsUnjudged(pod), seenAt: now, cameAt: cameAt(p.CreatedAt, now)}
}

// IsDaemon reports whether a DaemonSet has made it.
func (p *Pod) IsDaemon() bool { return p.pod.Daemon }

// Seen takes in a pod as a watch shows it, and what was read of it. first is true while the watch
// lists what was there before.
func (t *Table) Seen(pod *corev1.Pod, p *Pod, now time.Time, first bool) change.Effect {
	before, known := t.pods[p.name]
	if known && before.pod.UID == p.pod.UID {
		p.seenAt, p.cameAt = before.seenAt, before.cameAt
	}
	p.promisedAt(before, now)
	if !known {
		before = &Pod{}
	}
	t.trace(&p.pod, before, now, first)
	if p.ended {
		t.Shapes.Forget(before.shaped)
	} else {
		p.shaped = t.Shapes.Describe(before.shaped, pod)
		t.recordMade(p.shaped, pod)
	}
	t.recordMisread(p.name, pod)
	if is, was := &p.pod, &before.pod; !is.Daemon && !first && !is.Mirror && (is.Node != was.Node || is.Ending != was.Ending || p.ended != before.ended) && is.Node != "" {
		t.Nodes.PodEvent(is.Node, now)
	}
	if known && samePod(before, p) {
		return change.None
	}
	t.put(p)
	if known && samePod(unhurried(before), unhurried(p)) && !t.isReplica(p) && !p.keeps.always {
		return change.Shown
	}
	return change.Planned
}

// put keeps a pod, in place of what it was.
func (t *Table) put(p *Pod) {
	t.drop(p.name)
	t.pods[p.name] = p
	if p.pod.Node == "" {
		t.unbound[p.name] = true
	} else {
		t.bind(p)
	}
	if p.lives() {
		t.alive[p.shaped.Owner]++
		t.recordSurplus(p.shaped.Owner)
	}
	t.recordReplica(p)
}

// drop forgets a pod; one that is not known is none.
func (t *Table) drop(name types.NamespacedName) {
	p := t.pods[name]
	if p == nil {
		return
	}
	delete(t.pods, name)
	delete(t.unbound, name)
	t.unbind(p)
	if p.lives() {
		of := p.shaped.Owner
		if t.alive[of]--; t.alive[of] == 0 {
			delete(t.alive, of)
		}
		t.recordSurplus(of)
	}
}

// lives reports whether the pod counts among those of its owner.
func (p *Pod) lives() bool {
	return p.shaped != nil && p.shaped.Owner != (owner.ID{}) && !p.ended && !p.pod.Ending
}

// unhurried is a pod without what changes while every pod comes up, or its node is to empty: the next
// plan knows of it, and none is made for its sake. What its PodDisruptionBudgets allow then
// is said by them.
func unhurried(p *Pod) *Pod {
	out := *p
	out.pod.StartedAt, out.pod.Unready, out.pod.Pending, out.up, out.cost = time.Time{}, false, false, false, 0
	return &out
}

// samePod compares everything that a snapshot shows; a pod that says the same
// keeps what has its shape.
func samePod(a, b *Pod) bool { return *a == *b }

// Gone takes in that a pod was deleted, and reports whether it was known.
func (t *Table) Gone(name types.NamespacedName, now time.Time) bool {
	p, known := t.pods[name]
	if !known {
		return false
	}
	if is := &p.pod; is.Node != "" && !is.Daemon && !is.Mirror && !p.ended {
		t.Nodes.PodEvent(is.Node, now)
	}
	t.leaves(p, now)
	if len(t.evictions) > 0 {
		t.Shapes.Refresh() // its shape is what it was when it went
	}
	t.drop(name)
	if p.shaped != nil {
		t.forgetMade(p.shaped.Owner)
	}
	t.Shapes.Forget(p.shaped)
	t.replicaGone(name)
	delete(t.misread, name)
	return true
}

// OwnerChanged takes in that an owner says something else. anyWent is whether nodes with pods have gone lately.
func (t *Table) OwnerChanged(c *owner.Change, anyWent bool) change.Effect {
	if c.IsNone() {
		return change.None
	}
	id, asks := c.ID, c.AsksOtherwise()
	if asks {
		t.askAgain(id)
	}
	respreads := c.SelectsOthers() && t.Shapes.SelectorChanged(id)
	surplus := t.recordSurplus(id)
	// How many it wants decides whether one pod is the last of a Service, whether others come for evicted ones
	// and for those that went with their nodes, and which of its pods return.
	was, wants := c.Before.Wants(), c.Now.Wants()
	counts := (was > 1) != (wants > 1) || was != wants && (len(t.evictions) > 0 || anyWent)
	returns := c.ReturnsOthers() && t.returnsChanged(id)
	return change.If(respreads || asks && t.alive[id] > 0 || counts && t.Shapes.Has(id.Namespace) || returns || surplus)
}

// returnsChanged has the nodes of the pods of an owner shown again: other pods of its
// may return than before. It reports whether there are any. Cost: linear in the pods of
// the namespace.
func (t *Table) returnsChanged(of owner.ID) (found bool) {
	for e := range t.Shapes.In(of.Namespace) {
		if e.Owner == of && e.Node != "" {
			t.Changed(e.Node)
			found = true
		}
	}
	return found
}

// Find is a pod, and what has its shape.
func (t *Table) Find(name types.NamespacedName) (cluster.Pod, *shapes.Entry, bool) {
	p, known := t.pods[name]
	if !known {
		return cluster.Pod{}, nil, false
	}
	return p.pod, p.shaped, true
}

// Recall adds a pod of a saved snapshot; node is where it is, or was to be.
func (t *Table) Recall(p cluster.Pod, node string) {
	is := &Pod{pod: p, shaped: t.Shapes.Recall(p.Shape, node, p.PDBs), waiting: p.Node == "", nominated: node, saved: true, cost: p.DeletionCost}
	is.pod.Shape = nil
	if p.Node != "" {
		is.pod.Node, is.nominated = node, ""
	}
	name := types.NamespacedName{Namespace: p.Namespace, Name: p.Name}
	for _, taken := t.pods[name]; taken; _, taken = t.pods[name] {
		name.Name += "!" // written by hand; no pod has such a name
	}
	is.name = name
	t.put(is)
}

// Requests is what the pods on a node ask for together, without those of DaemonSets and static ones.
func (t *Table) Requests(node string) (out quantity.Resources) {
	if on := t.onNodes[node]; on != nil {
		for _, p := range on.pods {
			if !p.pod.Daemon && !p.pod.Mirror && p.shaped.Shape() != nil {
				out = out.Add(p.shaped.Shape().Requests)
			}
		}
	}
	return out
}

// NodesWithPods goes through the nodes that pods are on, whether these are there or not, in no order.
func (t *Table) NodesWithPods() iter.Seq[string] { return maps.Keys(t.onNodes) }

// Beside says what shape a pod would have if it came, and which of the pods
// that are there belong with it: those that are chosen, with the shapes they
// would have then, by name. Pods that have ended are not asked about.
func (t *Table) Beside(pod *corev1.Pod, chosen func(*cluster.Pod) bool) (cluster.Shape, []cluster.Pod) {
	e := t.Shapes.Describe(nil, pod)
	t.Shapes.Refresh()
	shape := *e.Shape()
	var out []cluster.Pod
	for _, p := range slices.SortedFunc(maps.Values(t.pods), byEntry) {
		is := p.pod
		if p.ended || !chosen(&is) {
			continue
		}
		is.Shape = p.shaped.Shape()
		out = append(out, is)
	}
	t.Shapes.Forget(e)
	return shape, out
}

func byEntry(a, b *Pod) int { return byName(a.name, b.name) }

func byName(a, b types.NamespacedName) int {
	return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
}
