// Package pdbs is the table of PodDisruptionBudgets: which of them select a pod, and what they allow.
package pdbs

import (
	"cmp"
	"maps"
	"reflect"
	"slices"

	policyv1 "k8s.io/api/policy/v1"
	"k8s.io/apimachinery/pkg/labels"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// Table holds the PodDisruptionBudgets of every namespace. It is not safe for concurrent use. Build it with New.
type Table struct {
	in       map[string]*namespace
	stale    map[string]struct{} // namespaces whose pods must be asked again which of them they are under
	recalled []cluster.PodDisruptionBudget
	listed   []cluster.PodDisruptionBudget // as snapshots list them, never written; nil: to be listed again
}

// New returns an empty table.
func New() *Table { return &Table{in: map[string]*namespace{}, stale: map[string]struct{}{}} }

// Recall begins with those of a saved snapshot, which count until they are seen. They are not written.
func (t *Table) Recall(list []cluster.PodDisruptionBudget) { t.recalled = list }

// Seen takes in a PodDisruptionBudget, which must not be written any more, and reports whether it says something new.
// Which pods it is about is asked again only where its selector changed; its
// status changes with every pod that comes up.
func (t *Table) Seen(b *policyv1.PodDisruptionBudget) bool {
	next := &pdb{facts: podspec.PodDisruptionBudget(b), written: b.Spec.Selector}
	in := t.of(b.Namespace)
	before := in.byName[b.Name]
	if before == nil || !reflect.DeepEqual(before.written, next.written) {
		next.selector = podspec.PDBSelector(b)
		in.byName[b.Name] = next
		t.forget(b.Namespace)
		return true
	}
	if before.facts == next.facts {
		return false
	}
	if keepsPods(&before.facts) || keepsPods(&next.facts) {
		t.stale[b.Namespace] = struct{}{}
	}
	before.facts, t.listed = next.facts, nil
	return true
}

// Gone takes in that a PodDisruptionBudget was deleted.
func (t *Table) Gone(b *policyv1.PodDisruptionBudget) {
	delete(t.of(b.Namespace).byName, b.Name)
	t.forget(b.Namespace)
}

func (t *Table) of(name string) *namespace {
	if t.in[name] == nil {
		t.in[name] = &namespace{byName: map[string]*pdb{}}
	}
	return t.in[name]
}

// forget drops what was worked out about a namespace.
func (t *Table) forget(name string) {
	in := t.in[name]
	t.stale[name], t.listed = struct{}{}, nil
	if len(in.byName) == 0 {
		delete(t.in, name)
		return
	}
	*in = namespace{byName: in.byName}
}

// Over names the PodDisruptionBudgets that a pod is under, sorted and with commas between;
// equal lists are one string.
func (t *Table) Over(namespace string, pod labels.Set) string {
	in := t.in[namespace]
	if in == nil {
		return ""
	}
	return in.over(pod)
}

// TakeStale lists the namespaces whose pods may be under others than before, in no order, and forgets that they are.
func (t *Table) TakeStale() []string {
	if len(t.stale) == 0 {
		return nil
	}
	out := slices.Collect(maps.Keys(t.stale))
	clear(t.stale)
	return out
}

// Named is a PodDisruptionBudget as it was seen, or recalled; nil where there is none of that
// name.
func (t *Table) Named(namespace, name string) *cluster.PodDisruptionBudget {
	if in := t.in[namespace]; in != nil && in.byName[name] != nil {
		return &in.byName[name].facts
	}
	for i := range t.recalled {
		if b := &t.recalled[i]; b.Namespace == namespace && b.Name == name {
			return b
		}
	}
	return nil
}

// List is every PodDisruptionBudget, by namespace and name. One that was recalled is as it
// was seen since. The list is that of the last call while nothing changes, and must not be written.
func (t *Table) List() []cluster.PodDisruptionBudget {
	if t.listed != nil {
		return t.listed
	}
	var out []cluster.PodDisruptionBudget
	for _, b := range t.recalled {
		if in := t.in[b.Namespace]; in == nil || in.byName[b.Name] == nil {
			out = append(out, b)
		}
	}
	for _, in := range t.in {
		for _, one := range in.byName {
			out = append(out, one.facts)
		}
	}
	slices.SortFunc(out, func(a, b cluster.PodDisruptionBudget) int {
		return cmp.Or(cmp.Compare(a.Namespace, b.Namespace), cmp.Compare(a.Name, b.Name))
	})
	t.listed = out
	return out
}

// keepsPods reports whether pods may be shown as kept by a PodDisruptionBudget.
func keepsPods(b *cluster.PodDisruptionBudget) bool { return b.Never && b.Allowed <= 0 }
