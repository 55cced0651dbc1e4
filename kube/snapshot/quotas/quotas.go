// Package quotas is the table of CapacityQuotas: which nodes each selects, and what these may come to together.
package quotas

import (
	"maps"
	"slices"

	"k8s.io/apimachinery/pkg/api/equality"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/kube/api/autoscaling/v1beta1"
	"github.com/daemok/daemok/kube/translate"
)

// Table holds CapacityQuotas as they were last seen. It is not safe for concurrent use. Build it with New.
type Table struct {
	objects  map[string]*v1beta1.CapacityQuota
	recalled []cluster.Quota
}

// New returns an empty table.
func New() *Table { return &Table{objects: map[string]*v1beta1.CapacityQuota{}} }

// Recall begins with the CapacityQuotas of a saved snapshot, which count until they are seen.
func (t *Table) Recall(list []cluster.Quota) { t.recalled = list }

// Seen takes in a CapacityQuota, and reports whether plans depend on what has changed.
func (t *Table) Seen(q *v1beta1.CapacityQuota) bool {
	was := t.objects[q.Name]
	t.objects[q.Name] = q
	return was == nil || !equality.Semantic.DeepEqual(was.Spec, q.Spec) || !maps.Equal(was.Annotations, q.Annotations)
}

// Gone takes in that a CapacityQuota was deleted, and reports whether it was known.
func (t *Table) Gone(q *v1beta1.CapacityQuota) bool {
	_, known := t.objects[q.Name]
	delete(t.objects, q.Name)
	return known
}

// Objects lists the CapacityQuotas that were seen, by name. They must not be written.
func (t *Table) Objects() (out []*v1beta1.CapacityQuota) {
	for _, name := range slices.Sorted(maps.Keys(t.objects)) {
		out = append(out, t.objects[name])
	}
	return out
}

// List lists the CapacityQuotas, those that were seen first, each by name. What counts against these is not counted.
func (t *Table) List() (out []cluster.Quota) {
	for _, o := range t.Objects() {
		out = append(out, translate.Quota(o))
	}
	for _, q := range t.recalled {
		if t.objects[q.Name] == nil {
			out = append(out, q)
		}
	}
	return out
}

// Show adds the CapacityQuotas to a snapshot whose nodes, instances and pools are known, and counts what they select.
func (t *Table) Show(s *cluster.Snapshot) {
	s.Quotas = t.List()
	for i := range s.Quotas {
		if q := &s.Quotas[i]; t.objects[q.Name] != nil {
			s.CountQuota(q)
		}
	}
}
