// Package buffers is the table of CapacityBuffers: the shape of the pods that each keeps capacity for, and how
// many these are.
package buffers

import (
	"cmp"
	"fmt"
	"maps"
	"math"
	"slices"

	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"
	resourcehelper "k8s.io/component-helpers/resource"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/quantity"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/api/mark"
	"github.com/daemok/daemok/kube/buffer"
	"github.com/daemok/daemok/kube/snapshot/shapes"
)

// admission fills in what an API server adds to pods.
type admission interface {
	Admit(pod *corev1.Pod) error
}

// namespaces say which of them are being deleted.
type namespaces interface {
	Ends(name string) bool
}

// Table holds CapacityBuffers as they were resolved. It is not safe for concurrent use. Build it with New.
type Table struct {
	Awaited bool // they are to be resolved, and were not yet: until then no node goes

	shapes     *shapes.Table
	admission  admission
	namespaces namespaces
	byName     map[types.NamespacedName]*entry
}

// entry is one buffer.
type entry struct {
	State
	shaped   *shapes.Entry
	requests corev1.ResourceList // of each of its pods
	lost     string              // that the NodePool of whose pods it is a share is not there; empty: it is
}

// State is a buffer with what it comes to.
type State struct {
	buffer.Resolved
	Pods int64 // that it keeps capacity for; none while it is not ready
}

// New returns an empty table.
func New(all *shapes.Table, admission admission, namespaces namespaces) *Table {
	return &Table{
		shapes: all, admission: admission, namespaces: namespaces, byName: map[types.NamespacedName]*entry{},
	}
}

// Recall takes in buffers of a saved snapshot.
func (t *Table) Recall(list []cluster.Buffer) {
	for i := range list {
		b := &list[i]
		e := &entry{State: State{Pods: b.Pods}}
		e.NotReady.Message = b.NotReady
		if b.Shape != nil {
			e.shaped = t.shapes.Recall(b.Shape, "", "")
		}
		t.byName[types.NamespacedName{Namespace: b.Namespace, Name: b.Name}] = e
	}
}

// Are takes in all buffers, which must not be written any more, and reports whether plans depend on what has changed.
func (t *Table) Are(list []buffer.Resolved) (changed bool) {
	changed = t.Awaited
	t.Awaited = false
	is := map[types.NamespacedName]bool{}
	for i := range list {
		is[list[i].Name()] = true
		changed = t.Seen(list[i]) || changed
	}
	for name := range t.byName {
		if !is[name] {
			t.shapes.Forget(t.byName[name].shaped)
			delete(t.byName, name)
			changed = true
		}
	}
	return changed
}

// Seen takes in one buffer, and reports whether plans depend on what has changed.
func (t *Table) Seen(r buffer.Resolved) (changed bool) {
	e, known := t.byName[r.Name()]
	if !known {
		e = &entry{}
		t.byName[r.Name()] = e
	}
	before := e.bounds()
	e.Resolved = r
	return t.describe(e) || !known || e.bounds() != before
}

// bounds is what of a buffer with a headroom decides for how many pods it is, whatever pods run.
type bounds struct {
	headroom    mark.Headroom
	least, most int64
}

func (e *entry) bounds() (out bounds) {
	if e.Headroom == nil || e.Object == nil {
		return out
	}
	return bounds{*e.Headroom, e.Count(e.requests, 0), e.Count(e.requests, math.MaxInt32)}
}

// AdmissionChanged has the pods of a namespace admitted again, or all where it is empty, and reports whether plans
// depend on what has changed.
func (t *Table) AdmissionChanged(namespace string) (changed bool) {
	for name, e := range t.byName {
		if e.Object != nil && (namespace == "" || name.Namespace == namespace) {
			changed = t.describe(e) || changed
		}
	}
	return changed
}

// describe finds the shape of the pods of a buffer, and how many they are, and reports whether either has changed.
func (t *Table) describe(e *entry) (changed bool) {
	before, pods, why := e.shaped, e.Pods, e.NotReady
	pod := t.admitted(e)
	if pod == nil {
		t.shapes.Forget(e.shaped)
		e.shaped, e.Pods, e.lost = nil, 0, ""
		return before != nil || why != e.NotReady
	}
	e.requests = resourcehelper.PodRequests(pod, resourcehelper.PodResourcesOptions{})
	e.shaped = t.shapes.Describe(e.shaped, pod)
	if e.Headroom == nil {
		e.Pods = e.Count(e.requests, 0)
	}
	return e.shaped != before || e.Pods != pods
}

// admitted is the pod as an API server would admit it; nil: NotReady says why there is none.
func (t *Table) admitted(e *entry) *corev1.Pod {
	if e.Pod == nil {
		return nil
	}
	e.NotReady = buffer.Refusal{}
	if t.namespaces.Ends(e.Object.Namespace) {
		e.refuse("namespace " + e.Object.Namespace + " is being deleted: no pods can be created there")
		return nil
	}
	pod := e.Pod.DeepCopy()
	if err := t.admission.Admit(pod); err != nil {
		e.refuse("its pods would be refused: " + err.Error())
		return nil
	}
	return pod
}

func (e *entry) refuse(why string) {
	e.NotReady = buffer.Refusal{Reason: v1beta1.ReasonResolutionFailed, Message: why}
}

// States returns every buffer with its state, sorted by namespace and name.
func (t *Table) States() []State {
	out := make([]State, 0, len(t.byName))
	for _, name := range t.names() {
		out = append(out, t.byName[name].state())
	}
	return out
}

// state is the buffer with what the newest snapshot shows of it.
func (e *entry) state() State {
	out := e.State
	if e.Headroom != nil && e.lost != "" {
		out.NotReady = buffer.Refusal{Reason: v1beta1.ReasonResolutionFailed, Message: e.lost}
	}
	return out
}

// Show lists the buffers in a snapshot.
func (t *Table) Show(out *cluster.Snapshot) {
	if t.Awaited {
		out.Unread = "CapacityBuffers have not been read yet"
	}
	for _, name := range t.names() {
		e := t.byName[name]
		e.share(out)
		b := cluster.Buffer{Namespace: name.Namespace, Name: name.Name, Pods: e.Pods, NotReady: e.state().NotReady.Message}
		if e.shaped != nil {
			b.Shape = e.shaped.Shape()
		}
		out.Buffers = append(out.Buffers, b)
	}
}

// share counts the pods of a buffer that is a share of what the pods on nodes request. DaemonSets do not count: a node
// more has a pod more of them.
func (e *entry) share(s *cluster.Snapshot) {
	if e.Headroom == nil || e.shaped == nil {
		return
	}
	pool, all := e.Headroom.Pool, e.Headroom.Pool == cluster.PoolID{}
	if e.lost = ""; !all {
		if _, found := s.Pool(pool); !found {
			e.Pods, e.lost = 0, fmt.Sprintf("metadata.annotations[%s]: %s is not there: create it, or name another one",
				api.AnnotationHeadroom, pool)
			return
		}
	}
	var sum quantity.Resources
	for i := range s.Nodes {
		if !all && s.Nodes[i].Pool != pool {
			continue
		}
		for j := range s.Nodes[i].Pods {
			if p := &s.Nodes[i].Pods[j]; !p.Daemon && !p.Ending {
				sum = sum.Add(p.Shape.Requests)
			}
		}
	}
	n := float64(0)
	each := e.shaped.Shape().Requests
	for _, name := range each.Names() {
		if amount := each.Get(name); amount > 0 && name != quantity.NamePods {
			n = max(n, math.Ceil(e.Headroom.Percent*float64(sum.Get(name))/float64(100*amount)))
		}
	}
	e.Pods = e.Count(e.requests, int64(min(n, math.MaxInt32)))
}

func (t *Table) names() []types.NamespacedName {
	return slices.SortedFunc(maps.Keys(t.byName), func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
}
