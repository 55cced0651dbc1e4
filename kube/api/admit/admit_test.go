package admit_test

import (
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"

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
	if len(all) != 10 {
		t.Errorf("got %d definitions, want 10", len(all))
	}
	if _, err := admit.New(all); err != nil {
		t.Error(err)
	}
}

// TestTooExpensiveRulesAreRefused: the limits of an API server on what rules may
// cost hold here too.
func TestTooExpensiveRulesAreRefused(t *testing.T) {
	all, err := crds.All()
	if err != nil {
		t.Fatal(err)
	}
	claims := all[slices.IndexFunc(all, func(d *apiextensionsv1.CustomResourceDefinition) bool {
		return d.Name == "nodeclaims.karpenter.sh"
	})]
	fields := claims.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties
	spec := fields["spec"]
	spec.XValidations = append(spec.XValidations, apiextensionsv1.ValidationRule{
		Rule: "self.requirements.all(a, self.requirements.all(b, self.requirements.all(c, a.key + b.key != c.key)))",
	})
	fields["spec"] = spec
	if _, err := admit.New(all); err == nil || !strings.Contains(err.Error(), "exceeds budget") {
		t.Errorf("New = %v; want the cost refused", err)
	}
}

// TestArgumentsStayAsTheyAre: defaults go into the result alone.
func TestArgumentsStayAsTheyAre(t *testing.T) {
	all, err := crds.All()
	if err != nil {
		t.Fatal(err)
	}
	gate, err := admit.New(all)
	if err != nil {
		t.Fatal(err)
	}
	buffer := map[string]any{"apiVersion": "autoscaling.x-k8s.io/v1beta1", "kind": "CapacityBuffer", "spec": map[string]any{}}
	stored, err := gate.Create(buffer)
	if err != nil {
		t.Fatal(err)
	}
	if len(stored["spec"].(map[string]any)) == 0 || len(buffer["spec"].(map[string]any)) != 0 {
		t.Errorf("argument %v, result %v; want the defaults in the result alone", buffer, stored)
	}
}

func TestUnknownKindsAreRefused(t *testing.T) {
	gate, err := admit.New(nil)
	if err != nil {
		t.Fatal(err)
	}
	if _, err := gate.Create(map[string]any{"apiVersion": "v1", "kind": "Pod"}); err == nil {
		t.Error("a Pod is accepted by a gate without definitions")
	}
}
