package tidy

import (
	"strings"
	"testing"
	"testing/fstest"
)

// in names a package of the main module.
func in(folder string) string { return Module + "/" + folder }

// TestDirectionsNotice plants one forbidden import at a time and wants the
// production table to name it, once, with its reason.
func TestDirectionsNotice(t *testing.T) {
	fmtPackage := Package{ImportPath: "fmt", Standard: true, Imports: []string{"os"}}
	osPackage := Package{ImportPath: "os", Standard: true}
	slog := Package{ImportPath: "log/slog", Standard: true}
	sync := Package{ImportPath: "sync", Standard: true}
	sdk := Package{ImportPath: "github.com/aws/aws-sdk-go-v2/service/ec2"}
	meta := Package{ImportPath: "k8s.io/apimachinery/pkg/apis/meta/v1"}

	tests := map[string]struct {
		packages []Package
		want     string // fragment of the one violation; empty for none
	}{
		"nothing about a core that stays at home": {
			[]Package{{ImportPath: in("core/place"), Imports: []string{"fmt", in("core/feasibility")}}, {ImportPath: in("core/feasibility")}, fmtPackage, osPackage}, ""},
		"a core that knows a cloud": {
			[]Package{{ImportPath: in("core/place"), Imports: []string{in("cloud")}}, {ImportPath: in("cloud")}},
			"core/place imports " + in("cloud") + ": the core decides on values"},
		"a core that logs": {
			[]Package{{ImportPath: in("core/feasibility"), Imports: []string{"log/slog"}}, slog}, "core/feasibility imports log/slog: the core has no log"},
		"a core that locks": {
			[]Package{{ImportPath: in("core/feasibility"), Imports: []string{"sync"}}, sync}, "goroutines of the core live in core/parallel"},
		"nothing about locks in core/parallel": {
			[]Package{{ImportPath: in("core/parallel"), Imports: []string{"sync"}}, sync}, ""},
		"a layer that looks up": {
			[]Package{{ImportPath: in("core/cluster"), Imports: []string{in("core/feasibility")}}, {ImportPath: in("core/feasibility")}},
			"the core is layered: cluster comes before it"},
		"a cloud that knows Kubernetes": {
			[]Package{{ImportPath: in("cloud/aws/userdata"), Imports: []string{meta.ImportPath}}, meta}, "it does not know Kubernetes"},
		"a cloud that knows Kubernetes by way of another": {
			[]Package{{ImportPath: in("cloud/nodegroup"), Imports: []string{"example.com/x"}}, {ImportPath: "example.com/x", Imports: []string{meta.ImportPath}}, meta},
			"cloud/nodegroup imports " + meta.ImportPath + " (through example.com/x): a provider launches instances"},
		"an adapter that knows its pretender": {
			[]Package{{ImportPath: in("cloud/aws"), Imports: []string{in("test/emulator")}}, {ImportPath: in("test/emulator")}},
			"test holds what the product is tested with"},
		"an AWS call in a controller": {
			[]Package{{ImportPath: in("controller/class"), Imports: []string{sdk.ImportPath}}, sdk}, "in cloud/aws and nowhere else"},
		"kube that knows AWS": {
			[]Package{{ImportPath: in("kube/translate"), Imports: []string{in("cloud/aws")}}, {ImportPath: in("cloud/aws")}},
			"it meets the cloud in controller"},
		"a loop that uses the old API": {
			[]Package{{ImportPath: in("controller/nodepool"), Imports: []string{in("kube/translate/provisioner")}}, {ImportPath: in("kube/translate/provisioner")}}, "is a leaf"},
		"a controller that migrates": {
			[]Package{{ImportPath: in("controller"), Imports: []string{in("migrate/adopt")}}, {ImportPath: in("migrate/adopt")}}, "a leaf of the user's command"},
		"a main module that links the lab": {
			[]Package{{ImportPath: in("cmd/daemok"), Imports: []string{in("lab/cluster")}}, {ImportPath: in("lab/cluster")}}, "a module of its own"},
		"a demo that peeks into the product": {
			[]Package{{ImportPath: in("demo"), Imports: []string{in("core/plan")}}, {ImportPath: in("core/plan")}}, "the demo is a user"},
		"a controller that ships a pretender": {
			[]Package{{ImportPath: in("cmd/daemok-controller"), Imports: []string{in("test/fakecloud")}}, {ImportPath: in("test/fakecloud")}},
			"test holds what the product is tested with"},
		"code of another autoscaler": {
			[]Package{{ImportPath: in("kube/api"), Imports: []string{"sigs.k8s.io/karpenter/pkg/apis"}}, {ImportPath: "sigs.k8s.io/karpenter/pkg/apis"}},
			"it shares APIs, not code"},
		"a simulator that goes outside": {
			[]Package{{ImportPath: in("test/sim"), Imports: []string{in("controller/planner")}}, {ImportPath: in("controller/planner")}},
			"the simulator drives the core alone"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			found := CheckImports(tt.packages, Directions())
			if tt.want == "" {
				none(t, found, nil)
				return
			}
			if len(found) != 1 || !strings.Contains(found[0].String(), tt.want) {
				t.Errorf("CheckImports found %v; want one with %q", found, tt.want)
			}
		})
	}
}

func TestCheckFoldersNoticesARuleWithoutAFolder(t *testing.T) {
	rules := []ImportRule{{Folder: "."}, {Folder: "core"}, {Folder: "core/fit", Reason: "it is low"}}
	found := CheckFolders([]Package{{ImportPath: Module + "/core/feasibility"}}, rules)
	if len(found) != 1 || found[0].Where != "core/fit" {
		t.Errorf("found %v, want one of core/fit", found)
	}
}

func TestCheckSiblingsNoticesALoopThatCallsAnother(t *testing.T) {
	packages := []Package{
		{ImportPath: in("controller/nodeclaim"), Imports: []string{in("controller/termination"), in("controller/nodeclaim/steps"), in("core/plan")}},
		{ImportPath: in("controller/termination")},
	}
	found := CheckSiblings(packages, "controller", "no callbacks")
	want := "controller/nodeclaim imports " + in("controller/termination") + ": no callbacks"
	if len(found) != 1 || found[0].String() != want {
		t.Errorf("CheckSiblings = %v; want %q alone", found, want)
	}
}

func TestCheckTestImportsNoticesHelpersFromOutside(t *testing.T) {
	packages := []Package{{
		ImportPath:   in("core/place"),
		TestImports:  []string{"testing", "golang.org/x/tools/txtar", in("core/feasibility")},
		XTestImports: []string{"example.com/assert"},
	}}
	found := CheckTestImports(packages, "core", "golang.org/x/tools/txtar")
	if len(found) != 1 || !strings.Contains(found[0].String(), "imports example.com/assert in a test") {
		t.Errorf("CheckTestImports = %v; want example.com/assert alone", found)
	}
}

func TestCheckDependenciesNoticesOneWithoutALine(t *testing.T) {
	root := fstest.MapFS{"adr.md": &fstest.MapFile{Data: []byte("| Module | Saves |\n|---|---|\n| `k8s.io/api`, `example.com/good` | much |\n")}}
	packages := []Package{
		{ImportPath: in("kube"), Imports: []string{"fmt", "k8s.io/api/core/v1", in("core/plan")}, TestImports: []string{"example.com/good/x", "example.com/goods"}},
		{ImportPath: "k8s.io/api/core/v1", Imports: []string{"example.com/theirs"}},
	}
	found, err := CheckDependencies(packages, root, "adr.md")
	if err != nil {
		t.Fatal(err)
	}
	if len(found) != 1 || !strings.Contains(found[0].String(), "kube imports example.com/goods") {
		t.Errorf("CheckDependencies = %v; want example.com/goods alone", found)
	}
}
