// Package namespaces is the table of namespaces: their labels, by which rules of pods select
// namespaces.
package namespaces

import (
	corev1 "k8s.io/api/core/v1"
	"k8s.io/apimachinery/pkg/labels"
)

// Table holds the labels of namespaces by name, and which of them are being deleted. It is not safe for concurrent
// use. Build it with New.
type Table struct {
	labels map[string]map[string]string
	ends   map[string]bool
}

// New returns an empty table.
func New() *Table { return &Table{labels: map[string]map[string]string{}, ends: map[string]bool{}} }

// Seen takes in a namespace.
func (t *Table) Seen(n *corev1.Namespace) {
	t.labels[n.Name] = n.Labels
	delete(t.ends, n.Name)
	if n.DeletionTimestamp != nil || n.Status.Phase == corev1.NamespaceTerminating {
		t.ends[n.Name] = true
	}
}

// Gone takes in that a namespace was deleted.
func (t *Table) Gone(n *corev1.Namespace) {
	delete(t.labels, n.Name)
	delete(t.ends, n.Name)
}

// Ends reports whether the namespace is being deleted.
func (t *Table) Ends(name string) bool { return t.ends[name] }

// Assume takes in a namespace of which nothing but its name is known, unless it was seen.
func (t *Table) Assume(name string) {
	if _, known := t.labels[name]; !known {
		t.labels[name] = map[string]string{corev1.LabelMetadataName: name}
	}
}

// Chosen lists the namespaces whose labels a selector chooses, in no order.
func (t *Table) Chosen(by labels.Selector) []string {
	var out []string
	for name, l := range t.labels {
		if by.Matches(labels.Set(l)) {
			out = append(out, name)
		}
	}
	return out
}
