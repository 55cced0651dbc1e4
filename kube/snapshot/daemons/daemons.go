// Package daemons is the table of DaemonSets: the shape of the pod that each creates on a new node.
package daemons

import (
	"cmp"
	"maps"
	"slices"
	"time"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/snapshot/shapes"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// admission makes the pod of a DaemonSet.
type admission interface {
	DaemonPod(ds *appsv1.DaemonSet) *corev1.Pod
}

// Table holds DaemonSets. It is not safe for concurrent use. Build it with New.
type Table struct {
	shapes    *shapes.Table
	admission admission
	byName    map[types.NamespacedName]daemon
}

type daemon struct {
	object   *appsv1.DaemonSet // nil while only pods of it were seen
	template *shapes.Entry     // the pod that the DaemonSet would make; nil: none is admitted, or the DaemonSet was not seen
	newest   *shapes.Entry     // of the newest pod; nil before there is one
	podAt    time.Time
	early    *corev1.Pod // that one, while the DaemonSet was not seen
}

func (d *daemon) shape() *cluster.Shape {
	if d.newest != nil {
		return d.newest.Shape()
	}
	return d.template.Shape()
}

// New returns an empty table.
func New(all *shapes.Table, admission admission) *Table {
	return &Table{shapes: all, admission: admission, byName: map[types.NamespacedName]daemon{}}
}

// Recall begins with the DaemonSets of a saved snapshot.
func (t *Table) Recall(list []cluster.Daemon) {
	for _, d := range list {
		t.byName[types.NamespacedName{Namespace: d.Namespace, Name: d.Name}] = daemon{template: t.shapes.Recall(d.Shape, "", "")}
	}
}

// PodSeen remembers the newest pod of a DaemonSet, which shows requests
// that admission filled in better than the template does.
func (t *Table) PodSeen(pod *corev1.Pod) {
	for _, o := range pod.OwnerReferences {
		if o.Kind != "DaemonSet" {
			continue
		}
		key := types.NamespacedName{Namespace: pod.Namespace, Name: o.Name}
		d := t.byName[key] // without template: seen before its DaemonSet
		if at := pod.CreationTimestamp.UTC(); !at.Before(d.podAt) {
			d.podAt = at
			t.newestIs(&d, pod)
			t.byName[key] = d
		}
	}
}

// newestIs takes in the newest pod of a DaemonSet, with the tolerations that its controller
// goes by: those of the template, without what admission added to the pod. Until the
// DaemonSet is seen these are not known.
func (t *Table) newestIs(d *daemon, pod *corev1.Pod) {
	d.early = nil
	if d.object == nil {
		d.early = pod
	} else {
		made := *pod
		made.Spec.Tolerations = podspec.DaemonPod(d.object, nil, nil).Spec.Tolerations
		pod = &made
	}
	d.newest, _ = t.shapes.DescribeDaemon(d.newest, pod)
}

// Seen takes in a DaemonSet. It must not be written any more.
func (t *Table) Seen(ds *appsv1.DaemonSet) {
	key := types.NamespacedName{Namespace: ds.Namespace, Name: ds.Name}
	d := t.byName[key]
	before := d.template
	d.object = ds
	template, changed := t.shapes.DescribeDaemon(before, t.admission.DaemonPod(ds))
	d.template = template
	if d.early != nil {
		t.newestIs(&d, d.early)
	}
	if before != nil && changed && d.newest != nil {
		t.shapes.Forget(d.newest) // pods of the older template say nothing any more
		d.newest, d.podAt = nil, time.Time{}
	}
	t.byName[key] = d
}

// Gone takes in that a DaemonSet was deleted.
func (t *Table) Gone(ds *appsv1.DaemonSet) {
	key := types.NamespacedName{Namespace: ds.Namespace, Name: ds.Name}
	t.shapes.Forget(t.byName[key].template)
	t.shapes.Forget(t.byName[key].newest)
	delete(t.byName, key)
}

// AdmissionChanged looks again at the DaemonSets of a namespace, or of all, and reports whether any makes another
// pod. What their newest pods ask for was decided when these were made.
func (t *Table) AdmissionChanged(namespace string) (changed bool) {
	for name, d := range t.byName {
		if d.object == nil || namespace != "" && name.Namespace != namespace {
			continue
		}
		next, differs := t.shapes.DescribeDaemon(d.template, t.admission.DaemonPod(d.object))
		d.template, changed = next, changed || differs
		t.byName[name] = d
	}
	return changed
}

// List is what a snapshot shows of DaemonSets, by namespace and name.
func (t *Table) List() (out []cluster.Daemon) {
	for _, name := range slices.SortedFunc(maps.Keys(t.byName), func(a, b types.NamespacedName) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	}) {
		if d := t.byName[name]; d.template != nil {
			out = append(out, cluster.Daemon{Namespace: name.Namespace, Name: name.Name, Shape: d.shape()})
		}
	}
	return out
}
