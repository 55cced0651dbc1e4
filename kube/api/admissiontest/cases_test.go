package admissiontest_test

import (
	"encoding/json"
	"reflect"
	"strings"
	"testing"

	jsonpatch "github.com/evanphx/json-patch/v5"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"

	"github.com/daemok/daemok/kube/api/admissiontest"
	"github.com/daemok/daemok/kube/api/admit"
	"github.com/daemok/daemok/kube/api/crds"
)

// TestCases tries the whole table with the API server's own code.
func TestCases(t *testing.T) {
	cases, err := admissiontest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	definitions, err := crds.All()
	if err != nil {
		t.Fatal(err)
	}
	gate, err := admit.New(definitions)
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) { try(t, gate, c) })
	}
	t.Logf("%d cases", len(cases))
}

func try(t *testing.T, gate *admit.Gate, c admissiontest.Case) {
	stored, err := gate.Create(c.Object.Object)
	if c.Update != nil {
		if err != nil {
			t.Fatalf("create: %v; want it accepted", err)
		}
		stored, err = gate.Update(c.Update.Object, stored)
	}
	switch {
	case c.Refused == "" && err != nil:
		t.Errorf("refused: %v; want it accepted", err)
	case c.Refused != "" && err == nil:
		t.Errorf("accepted; want it refused with %q", c.Refused)
	case c.Refused != "" && !strings.Contains(err.Error(), c.Refused):
		t.Errorf("refused: %v; want %q in it", err, c.Refused)
	}
	if c.Stored != nil {
		contains(t, stored, c.Stored)
	}
}

// contains checks that merging the wanted fields in changes nothing.
func contains(t *testing.T, stored, want map[string]any) {
	t.Helper()
	before, _ := json.Marshal(stored)
	patch, _ := json.Marshal(want)
	after, err := jsonpatch.MergePatch(before, patch)
	if err != nil {
		t.Fatal(err)
	}
	merged := new(unstructured.Unstructured)
	if err := merged.UnmarshalJSON(after); err != nil {
		t.Fatal(err)
	}
	got := new(unstructured.Unstructured)
	if err := got.UnmarshalJSON(before); err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(got.Object, merged.Object) {
		t.Errorf("stored %s\nwant %s in it", before, patch)
	}
}

// TestEveryKindHasBothSides: the table has accepted and refused manifests of
// every kind.
func TestEveryKindHasBothSides(t *testing.T) {
	cases, err := admissiontest.Cases()
	if err != nil {
		t.Fatal(err)
	}
	accepted, refused := map[string]int{}, map[string]int{}
	for _, c := range cases {
		if c.Refused == "" {
			accepted[c.Object.GetKind()]++
		} else {
			refused[c.Object.GetKind()]++
		}
	}
	for _, kind := range []string{"NodePool", "NodeClaim", "NodeOverlay", "EC2NodeClass", "CapacityBuffer"} {
		if accepted[kind] == 0 || refused[kind] == 0 {
			t.Errorf("%s: %d accepted and %d refused cases, want both", kind, accepted[kind], refused[kind])
		}
		t.Logf("%s: %d accepted, %d refused", kind, accepted[kind], refused[kind])
	}
}
