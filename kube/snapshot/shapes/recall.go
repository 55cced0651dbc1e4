package shapes

import (
	"slices"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/translate/podspec"
)

// RecallReaders counts the labels that a shape of a saved snapshot has as labels that some rule
// reads: one did, or they would not be in it.
func (t *Table) RecallReaders(s *cluster.Shape) {
	keys := t.rules.readers[s.Namespace]
	if keys == nil {
		keys = map[string]int{}
		t.rules.readers[s.Namespace] = keys
	}
	for _, l := range s.Labels {
		keys[l.Key]++
	}
}

// Recall adds what has a shape of a saved snapshot, on a node or none, and under these PodDisruptionBudgets.
func (t *Table) Recall(shape *cluster.Shape, node, pdbs string) *Entry {
	labels := map[string]string{}
	for _, l := range shape.Labels {
		labels[l.Key] = l.Value
	}
	e, _ := t.become(nil, Entry{Namespace: shape.Namespace, Node: node, Labels: labels, recalled: slices.Clone(shape.Labels)}, podspec.RulesOfShape(shape))
	e.pdbs, e.recalledPDBs = pdbs, pdbs
	return e
}
