// Package admission is the table of what an API server adds to pods when they are created: LimitRanges
// and RuntimeClasses.
package admission

import (
	"cmp"
	"maps"
	"slices"

	appsv1 "k8s.io/api/apps/v1"
	corev1 "k8s.io/api/core/v1"
	nodev1 "k8s.io/api/node/v1"
	"k8s.io/apimachinery/pkg/types"

	"github.com/daemok/daemok/kube/translate/podspec"
)

// Table holds LimitRanges and RuntimeClasses. It is not safe for concurrent use. Build it with New.
type Table struct {
	limits   map[types.NamespacedName]*corev1.LimitRange
	runtimes map[string]*nodev1.RuntimeClass
}

// New returns an empty table.
func New() *Table {
	return &Table{limits: map[types.NamespacedName]*corev1.LimitRange{}, runtimes: map[string]*nodev1.RuntimeClass{}}
}

// LimitRangeSeen takes in what pods of a namespace ask for by default. It must not be written any more.
func (t *Table) LimitRangeSeen(r *corev1.LimitRange) {
	t.limits[types.NamespacedName{Namespace: r.Namespace, Name: r.Name}] = r
}

// LimitRangeGone takes in that a LimitRange was deleted.
func (t *Table) LimitRangeGone(r *corev1.LimitRange) {
	delete(t.limits, types.NamespacedName{Namespace: r.Namespace, Name: r.Name})
}

// RuntimeClassSeen takes in what a runtime adds to pods. It must not be written any more.
func (t *Table) RuntimeClassSeen(c *nodev1.RuntimeClass) { t.runtimes[c.Name] = c }

// RuntimeClassGone takes in that a RuntimeClass was deleted.
func (t *Table) RuntimeClassGone(c *nodev1.RuntimeClass) { delete(t.runtimes, c.Name) }

// HasRuntimeClass reports whether a RuntimeClass has been seen.
func (t *Table) HasRuntimeClass(name string) bool { return t.runtimes[name] != nil }

// Admit fills in what an API server adds to a pod that is created, or says why that would refuse it.
func (t *Table) Admit(pod *corev1.Pod) error {
	return podspec.Admit(pod, t.limitsOf(pod.Namespace), t.runtimeOf(&pod.Spec))
}

// DaemonPod is the pod that a DaemonSet would make; nil where none is admitted.
func (t *Table) DaemonPod(ds *appsv1.DaemonSet) *corev1.Pod {
	return podspec.DaemonPod(ds, t.limitsOf(ds.Namespace), t.runtimeOf(&ds.Spec.Template.Spec))
}

// limitsOf lists the LimitRanges of a namespace by name.
func (t *Table) limitsOf(namespace string) []*corev1.LimitRange {
	var out []*corev1.LimitRange
	for _, name := range slices.SortedFunc(maps.Keys(t.limits), func(a, b types.NamespacedName) int { return cmp.Compare(a.Name, b.Name) }) {
		if name.Namespace == namespace {
			out = append(out, t.limits[name])
		}
	}
	return out
}

func (t *Table) runtimeOf(spec *corev1.PodSpec) *nodev1.RuntimeClass {
	if spec.RuntimeClassName == nil {
		return nil
	}
	return t.runtimes[*spec.RuntimeClassName]
}
