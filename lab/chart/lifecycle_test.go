package chart

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/v2/lint"
	"helm.sh/helm/v4/pkg/chart/v2/lint/support"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/kube/api/crds"
)

// helm lint has nothing against the charts.
func TestLint(t *testing.T) {
	version, err := common.ParseKubeVersion(Kubernetes)
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{Daemok, DaemokCRDs} {
		var values map[string]any
		if name == Daemok {
			values = valuesOf(t, least)
		}
		for _, m := range lint.RunAll("../../charts/"+name, values, "kube-system", lint.WithKubeVersion(version)).Messages {
			if m.Severity > support.InfoSev {
				t.Errorf("%s: %v", name, m)
			}
		}
	}
}

// The definitions of chart daemok-crd are those of the API types, and helm uninstall keeps them, as it keeps
// whatever has this annotation in a release. Those that come with the main chart are of no release.
func TestTheDefinitionsAreThoseOfTheTypes(t *testing.T) {
	const policy = "helm.sh/resource-policy"
	got, err := load(t, DaemokCRDs)(Options{Release: "daemok-crd", Namespace: "kube-system", Values: valuesOf(t, "additionalAnnotations: {example.com/owner: platform}")})
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]string{}
	entries, err := crds.FS.ReadDir(".")
	if err != nil {
		t.Fatal(err)
	}
	for _, e := range entries {
		text, err := crds.FS.ReadFile(e.Name())
		if err != nil {
			t.Fatal(err)
		}
		o := &unstructured.Unstructured{}
		if err := yaml.Unmarshal(text, &o.Object); err != nil {
			t.Fatal(err)
		}
		want[o.GetName()] = mustYAML(t, o.Object)
	}
	for _, o := range got.Objects {
		annotations := o.GetAnnotations()
		if annotations[policy] != "keep" || annotations["example.com/owner"] != "platform" {
			t.Errorf("%s has annotations %v", o.GetName(), annotations)
		}
		delete(annotations, policy)
		delete(annotations, "example.com/owner")
		o.SetAnnotations(annotations)
		if text := mustYAML(t, o.Object); text != want[o.GetName()] {
			t.Errorf("%s is not the definition of its type:\n%s", o.GetName(), text)
		}
		delete(want, o.GetName())
	}
	for name := range want {
		t.Errorf("%s is missing", name)
	}
	chart, err := Load(Daemok)
	if err != nil {
		t.Fatal(err)
	}
	if with := len(chart.CRDObjects()); with != len(entries) {
		t.Errorf("the main chart has %d definitions, there are %d", with, len(entries))
	}
}

// Every file of testdata/released is what a release of this chart, or of Karpenter's, has in the cluster. An
// upgrade from it changes no field that cannot be changed.
func TestUpgradeFromWhatWasReleased(t *testing.T) {
	paths, err := filepath.Glob("testdata/released/*.yaml")
	if err != nil || len(paths) == 0 {
		t.Fatalf("no releases: %v", err)
	}
	got, err := load(t, Daemok)(Options{Release: "karpenter", Namespace: "kube-system", Values: valuesOf(t, least)})
	if err != nil {
		t.Fatal(err)
	}
	now := map[string]*unstructured.Unstructured{}
	for _, o := range got.Objects {
		now[o.GetKind()+" "+o.GetNamespace()+"/"+o.GetName()] = o
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".yaml"), func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			same := 0
			for document := range strings.SplitSeq(strings.TrimPrefix(string(text), "---\n"), "\n---\n") {
				before := &unstructured.Unstructured{}
				if err := yaml.Unmarshal([]byte(document), &before.Object); err != nil {
					t.Fatal(err)
				}
				after := now[before.GetKind()+" "+before.GetNamespace()+"/"+before.GetName()]
				if after == nil {
					continue
				}
				same++
				if a, b := fixed(t, before), fixed(t, after); a != b {
					t.Errorf("%s %s cannot be upgraded: it has\n%s\nand is to have\n%s", before.GetKind(), before.GetName(), a, b)
				}
			}
			if same < 5 {
				t.Errorf("only %d objects of it are still there", same)
			}
		})
	}
}

// fixed is what an API server does not allow to change.
func fixed(t *testing.T, o *unstructured.Unstructured) string {
	t.Helper()
	switch o.GetKind() {
	case "Deployment":
		selector, _, _ := unstructured.NestedMap(o.Object, "spec", "selector")
		return mustYAML(t, selector)
	case "RoleBinding", "ClusterRoleBinding":
		return mustYAML(t, o.Object["roleRef"])
	}
	return ""
}
