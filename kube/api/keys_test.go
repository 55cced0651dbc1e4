package api_test

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	gotypes "go/types"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/daemok/daemok/kube/api"
	"github.com/daemok/daemok/kube/api/crds"
)

// TestEveryNamedKeyIsInTheTable: a constant added to names.go has its row, and
// no row is there twice.
func TestEveryNamedKeyIsInTheTable(t *testing.T) {
	rows := map[string]bool{}
	for _, k := range api.Keys() {
		id := string(k.Kind) + " " + k.Name
		if rows[id] {
			t.Errorf("%s is in the table twice", id)
		}
		rows[id] = true
		if k.On == "" || k.Meaning == "" {
			t.Errorf("%s: On and Meaning must be said", id)
		}
	}
	kinds := map[string]api.KeyKind{
		"Label": api.KindLabel, "Annotation": api.KindAnnotation, "Mark": api.KindAnnotation,
		"Taint": api.KindTaint, "Finalizer": api.KindFinalizer, "ConfigMap": api.KindConfigMap, "Tag": api.KindTag,
	}
	named := 0
	for name, value := range constants(t, "names.go") {
		for prefix, kind := range kinds {
			if !strings.HasPrefix(name, prefix) || name == "TagOwned" {
				continue
			}
			named++
			if !rows[string(kind)+" "+value] {
				t.Errorf("%s = %q has no row in the table, add one to keys.go", name, value)
			}
		}
	}
	if named != len(rows) {
		t.Errorf("%d constants, %d rows; every row must have a constant", named, len(rows))
	}
}

// constants returns the texts of the constants a file declares.
func constants(t *testing.T, path string) map[string]string {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, path, nil, 0)
	if err != nil {
		t.Fatal(err)
	}
	checked, err := new(gotypes.Config).Check("api", files, []*ast.File{file}, nil)
	if err != nil {
		t.Fatal(err)
	}
	found := map[string]string{}
	for _, name := range checked.Scope().Names() {
		if c, ok := checked.Scope().Lookup(name).(*gotypes.Const); ok {
			found[name] = constant.StringVal(c.Val())
		}
	}
	return found
}

var inRule = regexp.MustCompile(`'karpenter\.k8s\.aws/[a-z0-9-]+'`)

// TestAdmissionKnowsTheSameLabels: the list of AWS labels in the rules of the
// CRDs is the one that the rest of the product has.
func TestAdmissionKnowsTheSameLabels(t *testing.T) {
	want := []string{api.LabelNodeClass}
	for _, label := range api.WellKnownLabels() {
		if strings.HasPrefix(label, api.GroupAWS+"/") {
			want = append(want, label)
		}
	}
	instance := []string{
		api.LabelTenancy, api.LabelReservationID, api.LabelReservationType, api.LabelReservationInterruptible,
		api.LabelPlacementGroupID, api.LabelPlacementGroupPartition,
	}
	forOverlays := slices.DeleteFunc(slices.Clone(want), func(l string) bool { return slices.Contains(instance, l) })
	ofProvisioners := []string{api.LabelInstancePods, api.LabelAcceleratorMemory, api.LabelAMIID}
	for _, label := range want {
		if api.IsWellKnownToProvisioner(label) {
			ofProvisioners = append(ofProvisioners, label)
		}
	}
	tests := map[string][]string{
		"karpenter.sh_provisioners.yaml": ofProvisioners,
		"karpenter.sh_nodepools.yaml":    want,
		"karpenter.sh_nodeclaims.yaml":   want,
		"karpenter.sh_nodeoverlays.yaml": forOverlays,
	}
	for file, labels := range tests {
		t.Run(file, func(t *testing.T) {
			data, err := crds.FS.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, quoted := range inRule.FindAllString(string(data), -1) {
				got = append(got, strings.Trim(quoted, "'"))
			}
			if got, want := compact(got), compact(labels); !slices.Equal(got, want) {
				t.Errorf("the rules know %v\nwant %v", got, want)
			}
		})
	}
}

func compact(list []string) []string { return slices.Compact(slices.Sorted(slices.Values(list))) }
