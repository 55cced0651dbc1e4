package admit_test

import (
	"testing"

	"github.com/daemok/daemok/kube/api/admit"
	"github.com/daemok/daemok/kube/api/crds"
)

// TestDefinitionsAreAccepted: an API server takes every CRD, the cost of its
// rules included.
func TestDefinitionsAreAccepted(t *testing.T) {
	all, err := crds.All()
	if err != nil {
		t.Fatal(err)
	}
	if len(all) != 5 {
		t.Errorf("got %d definitions, want 5", len(all))
	}
	if _, err := admit.New(all); err != nil {
		t.Error(err)
	}
}
