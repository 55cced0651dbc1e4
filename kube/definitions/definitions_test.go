package definitions

import (
	"errors"
	"slices"
	"strings"
	"testing"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	apimeta "k8s.io/apimachinery/pkg/api/meta"
	"k8s.io/apimachinery/pkg/runtime"
	"sigs.k8s.io/controller-runtime/pkg/client/fake"

	"github.com/daemok/daemok/kube/api/crds"
)

func ours(t *testing.T) []*apiextensionsv1.CustomResourceDefinition {
	t.Helper()
	all, err := crds.All()
	if err != nil {
		t.Fatal(err)
	}
	return all
}

// schemaOf is the newest schema of the definition, to be changed.
func schemaOf(d *apiextensionsv1.CustomResourceDefinition, path ...string) *apiextensionsv1.JSONSchemaProps {
	at := d.Spec.Versions[0].Schema.OpenAPIV3Schema
	for _, name := range path {
		if name == "[]" {
			at = at.Items.Schema
			continue
		}
		next := at.Properties[name]
		at = &next
	}
	return at
}

// An older definition in a cluster: each field that it lacks is named once, with those below it left out.
func TestWhichFieldsADefinitionLacks(t *testing.T) {
	all := ours(t)
	pool := all[slices.IndexFunc(all, func(d *apiextensionsv1.CustomResourceDefinition) bool { return d.Name == "nodepools.karpenter.sh" })]
	tests := map[string]struct {
		age     func(d *apiextensionsv1.CustomResourceDefinition)
		unknown string
		other   bool
	}{
		"one of this build lacks nothing": {func(*apiextensionsv1.CustomResourceDefinition) {}, "", false},
		"a field of the spec":             {func(d *apiextensionsv1.CustomResourceDefinition) { delete(schemaOf(d, "spec").Properties, "weight") }, "v1: spec.weight", true},
		"a field with others below it": {func(d *apiextensionsv1.CustomResourceDefinition) {
			delete(schemaOf(d, "spec").Properties, "disruption")
		}, "v1: spec.disruption", true},
		"a field of what a list has": {func(d *apiextensionsv1.CustomResourceDefinition) {
			delete(schemaOf(d, "spec", "disruption", "budgets", "[]").Properties, "reasons")
		}, "v1: spec.disruption.budgets[].reasons", true},
		"a schema that keeps what it does not know": {func(d *apiextensionsv1.CustomResourceDefinition) {
			spec := schemaOf(d, "spec")
			clear(spec.Properties)
			spec.XPreserveUnknownFields = new(true)
			d.Spec.Versions[0].Schema.OpenAPIV3Schema.Properties["spec"] = *spec
		}, "", true},
		"other words alone": {func(d *apiextensionsv1.CustomResourceDefinition) { schemaOf(d).Description = "of before" }, "", true},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			there := pool.DeepCopy()
			tt.age(there)
			got := Compare(pool, there)
			if text := strings.Join(got.Unknown, " "); text != tt.unknown || len(got.Other) > 0 != tt.other || got.Same() == tt.other {
				t.Errorf("Compare = %+v, want unknown %q, other %v", got, tt.unknown, tt.other)
			}
		})
	}
}

// A newer definition in a cluster, as after a rollback of the controller: it serves this build too. One that lacks a
// field as well is of neither an older nor a later release.
func TestADefinitionOfALaterRelease(t *testing.T) {
	all := ours(t)
	pool := all[slices.IndexFunc(all, func(d *apiextensionsv1.CustomResourceDefinition) bool { return d.Name == "nodepools.karpenter.sh" })]
	there := pool.DeepCopy()
	schemaOf(there, "spec").Properties["tomorrow"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	schemaOf(there, "spec", "disruption", "budgets", "[]").Properties["rate"] = apiextensionsv1.JSONSchemaProps{Type: "string"}
	got := Compare(pool, there)
	if want := []string{"v1: spec.disruption.budgets[].rate", "v1: spec.tomorrow"}; !slices.Equal(got.Later, want) || !got.OfLaterRelease() || got.Same() {
		t.Errorf("Compare = %+v, want one of a later release with %v", got, want)
	}
	delete(schemaOf(there, "spec").Properties, "weight")
	if got := Compare(pool, there); got.OfLaterRelease() {
		t.Errorf("Compare = %+v calls one of a later release that lacks a field", got)
	}
}

// What must be done is done in the Helm release that has the definition.
func TestTheWayOutNamesTheRelease(t *testing.T) {
	d := ours(t)[0]
	there := d.DeepCopy()
	if got := Compare(d, there).WayOut(); !strings.Contains(got, "--install daemok-crd charts/daemok-crd --namespace kube-system") {
		t.Errorf("WayOut = %q where no release has it", got)
	}
	there.Annotations = map[string]string{"meta.helm.sh/release-name": "karpenter-crd", "meta.helm.sh/release-namespace": "karpenter"}
	if got := Compare(d, there).WayOut(); !strings.Contains(got, "--install karpenter-crd charts/daemok-crd --namespace karpenter") {
		t.Errorf("WayOut = %q where karpenter-crd has it", got)
	}
}

// A cluster that has some of the definitions, one of them without a version.
func TestWhatAClusterHas(t *testing.T) {
	all, scheme := ours(t), runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	first := all[0].DeepCopy()
	first.Spec.Versions[0].Served = false
	first.Status.StoredVersions = []string{"v0"}
	got, err := Read(t.Context(), fake.NewClientBuilder().WithScheme(scheme).WithObjects(first).Build(), all)
	if err != nil || len(got) != len(all) {
		t.Fatalf("Read = %v, %v", got, err)
	}
	if d := got[0]; d.Missing || len(d.Unserved) != 1 || !slices.Equal(d.Strange, []string{"v0"}) {
		t.Errorf("of the definition that is there: %+v", d)
	}
	if !got[1].Missing {
		t.Errorf("of one that is missing: %+v", got[1])
	}
}

// The controller waits for the kinds that it cannot do without, and names them.
func TestWhichKindsAreNotServed(t *testing.T) {
	kinds := apimeta.NewDefaultRESTMapper(nil)
	kinds.Add(needed()["nodepools.karpenter.sh"], apimeta.RESTScopeRoot)
	missing, is := errors.AsType[*MissingError](Served(kinds))
	if !is || strings.Join(missing.Names, " ") != "ec2nodeclasses.karpenter.k8s.aws nodeclaims.karpenter.sh" || !strings.Contains(missing.Error(), "helm upgrade --install daemok-crd") {
		t.Errorf("Served = %v", missing)
	}
	for _, kind := range needed() {
		kinds.Add(kind, apimeta.RESTScopeRoot)
	}
	if err := Served(kinds); err != nil {
		t.Errorf("Served = %v where all are", err)
	}
}

// What is being deleted is said so, and of NodeClaims it is known by itself.
func TestADefinitionThatIsBeingDeleted(t *testing.T) {
	all, scheme := ours(t), runtime.NewScheme()
	if err := apiextensionsv1.AddToScheme(scheme); err != nil {
		t.Fatal(err)
	}
	at := slices.IndexFunc(all, func(d *apiextensionsv1.CustomResourceDefinition) bool { return d.Name == "nodeclaims.karpenter.sh" })
	there := all[at].DeepCopy()
	there.Finalizers = []string{"customresourcecleanup.apiextensions.k8s.io"}
	cluster := fake.NewClientBuilder().WithScheme(scheme).WithObjects(there).Build()
	for _, deleted := range []bool{false, true} {
		if deleted {
			if err := cluster.Delete(t.Context(), there); err != nil {
				t.Fatal(err)
			}
		}
		got, err := Read(t.Context(), cluster, all[at:at+1])
		goes, goesErr := ClaimsGo(t.Context(), cluster)
		if err != nil || goesErr != nil || got[0].Going != deleted || goes != deleted || got[0].Same() == deleted {
			t.Errorf("Read = %+v, %v; ClaimsGo = %v, %v; want %v", got, err, goes, goesErr, deleted)
		}
	}
	if goes, err := ClaimsGo(t.Context(), fake.NewClientBuilder().WithScheme(scheme).Build()); goes || err != nil {
		t.Errorf("ClaimsGo = %v, %v where there is none", goes, err)
	}
}
