package admissiontest_test

import (
	"context"
	"testing"

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
	gate := gateOfAll(t)
	for _, c := range cases {
		t.Run(c.Name, func(t *testing.T) {
			if err := c.Try(t.Context(), &server{gate: gate}); err != nil {
				t.Error(err)
			}
		})
	}
	t.Logf("%d cases", len(cases))
}

// gateOfAll admits the objects of all definitions.
func gateOfAll(t *testing.T) *admit.Gate {
	t.Helper()
	definitions, err := crds.All()
	if err != nil {
		t.Fatal(err)
	}
	gate, err := admit.New(definitions)
	if err != nil {
		t.Fatal(err)
	}
	return gate
}

// server is a Gate that remembers what it admitted.
type server struct {
	gate   *admit.Gate
	stored map[string]any
}

func (s *server) Create(_ context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	stored, err := s.gate.Create(o.Object)
	s.stored = stored
	return &unstructured.Unstructured{Object: stored}, err
}

func (s *server) Update(_ context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	stored, err := s.gate.Update(o.Object, s.stored)
	s.stored = stored
	return &unstructured.Unstructured{Object: stored}, err
}

func (s *server) UpdateStatus(ctx context.Context, o *unstructured.Unstructured) (*unstructured.Unstructured, error) {
	return s.Update(ctx, o)
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
	for _, kind := range []string{"NodePool", "NodeClaim", "NodeOverlay", "EC2NodeClass", "CapacityBuffer",
		"CapacityQuota", "ProvisioningRequest", "DisruptionPolicy", "Provisioner", "AWSNodeTemplate"} {
		if accepted[kind] == 0 || refused[kind] == 0 {
			t.Errorf("%s: %d accepted and %d refused cases, want both", kind, accepted[kind], refused[kind])
		}
		t.Logf("%s: %d accepted, %d refused", kind, accepted[kind], refused[kind])
	}
}
