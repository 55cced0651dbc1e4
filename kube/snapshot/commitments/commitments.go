// Package commitments is the table of Reserved Instances and Savings Plans that plans use.
package commitments

import (
	"reflect"

	corev1 "k8s.io/api/core/v1"

	"github.com/daemok/daemok/core/commitment"
	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/translate"
)

// Table holds what the ConfigMap daemok-commitments lists, as it was last understood. The zero value follows none. It
// is not safe for concurrent use.
type Table struct {
	In string // namespace of the ConfigMap; empty: none is followed

	is  commitment.Commitments
	odd string
}

// Recall begins with the commitments of a saved snapshot, which count until a ConfigMap is seen.
func (t *Table) Recall(of commitment.Commitments) { t.is = of }

// Seen takes in a ConfigMap; any other than the one followed is passed over. What cannot be read leaves what was listed
// before. It reports whether something has changed that plans depend on.
func (t *Table) Seen(c *corev1.ConfigMap) bool {
	if !t.follows(c) {
		return false
	}
	list, err := translate.ReadCommitments(c)
	if err != nil {
		t.odd = err.Error() + "; plans use what it listed before"
		if !t.is.Any() {
			t.odd = err.Error() + "; until it is corrected, plans use no commitments"
		}
		return false
	}
	return t.become(*list)
}

// Gone takes in that a ConfigMap is not there.
func (t *Table) Gone(c *corev1.ConfigMap) bool {
	return t.follows(c) && t.become(commitment.Commitments{})
}

func (t *Table) follows(c *corev1.ConfigMap) bool {
	return t.In != "" && c.Namespace == t.In && c.Name == api.ConfigMapCommitments
}

func (t *Table) become(next commitment.Commitments) bool {
	was := t.is
	t.is, t.odd = next, ""
	return !reflect.DeepEqual(was, next)
}

// Odd says what of the ConfigMap is not understood, and what plans use meanwhile; empty: all is.
func (t *Table) Odd() string { return t.odd }

// Now are the commitments that plans use. They must not be written.
func (t *Table) Now() commitment.Commitments { return t.is }
