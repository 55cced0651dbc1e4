package tidy

import (
	"io/fs"
	"maps"
	"os"
	"slices"
	"testing"

	"golang.org/x/tools/go/packages"
)

// table names the file of the limits that may only fall.
const table = "internal/tidy/house_test.go"

// manyFields are the types of more fields than a reader keeps in mind.
var manyFields = Ratchet{
	Of: "fields", Most: 20, Step: 5, Table: table,
	Advice: "part it: fields that change together are a type of their own",
	Known: map[string]int{
		"cloud/aws.Options":             25,
		"cloud/aws.Provider":            35,
		"cloud/aws/catalog.Type":        25,
		"cloud/aws/ec2data.Type":        50,
		"cloud/aws/nodeclass.Spec":      30,
		"test/market.Market":            25,
		"cloud/nodegroup.Group":         35,
		"cmd/daemok-controller.options": 70,
		"cmd/daemok-controller.parts":   25,
		"core/cluster.Node":             30,
		"core/cluster.Pod":              30,
		"core/forecast.game":            25,
		"core/plan.Plan":                25,
		"observe.Metrics":               75,
		"test/sim.controller":           25,
		"test/sim.instance":             30,
	},
}

// manyMethods are the types of more methods than that.
var manyMethods = Ratchet{
	Of: "methods", Most: 30, Step: 5, Table: table,
	Advice: "give the new method to a smaller type, or part this one",
	Known: map[string]int{
		"cloud/aws.Provider":                75,
		"cloud/aws/instance.Store":          35,
		"test/fakecloud.Cloud":              35,
		"test/market.Market":                65,
		"controller/class.Reconciler":       50,
		"controller/planner.Recorder":       35,
		"controller/termination.Reconciler": 50,
		"core/feasibility.Pool":             65,
		"core/pack.solver":                  60,

		"core/topology.Board":        85,
		"kube/apply.Applier":         65,
		"migrate/storage.Mover":      35,
		"kube/snapshot.ClusterState": 40,
		"test/store.Server":          35,
		"lab/container.pod":          35,
		"lab/oracle.generator":       40,
		"lab/oracle.stage":           40,
		"test/sim.World":             80,
		"test/sim.controller":        35,
	},
}

// manyLines are the packages that are several.
var manyLines = Ratchet{
	Of: "lines", Most: 4000, Step: 100, Table: table,
	Advice: "part it by what its files know of each other",
	Known:  map[string]int{},
}

// longLinesLeft are lines of more than 120 columns, a tab being four.
var longLinesLeft = Ratchet{
	Of: "lines of more than 120 columns", Most: 0, Step: 100, Table: table,
	Advice: "wrap those of this change: git diff -U0 origin/main -- '*.go' | grep -E '^\\+.{115,}'",
	Known: map[string]int{
		"product code": 4400,
		"tests":        6700,
	},
}

// arrowsThatRunBack are packages in which calls run to and fro between files.
var arrowsThatRunBack = Ratchet{
	Of: "back arrows of a hundred between its files", Most: 25, Step: 5, Table: table,
	Advice: "move what two files use of each other into one of them, or below both",
	Known: map[string]int{
		"test/emulator/control":   35,
		"test/conformance":        30,
		"test/fakecloud":          35,
		"controller/class":        30,
		"controller/drift":        35,
		"controller/planner":      35,
		"controller/termination":  30,
		"core/explanation":        40,
		"core/place":              35,
		"core/provisioning":       30,
		"core/scheduling":         30,
		"kube/snapshot/pods":      40,
		"core/forecast":           35,
		"doctor":                  30,
		"migrate/storage":         40,
		"kube/manifest/terraform": 40,
		"observe":                 30,
		"observe/state":           45,
	},
}

// callbacksOfCore are functions that packages of core hand to each other.
var callbacksOfCore = Ratchet{
	Of: "function-typed parameters or fields", Most: 0, Table: table,
	Advice: "hand a value over, or return one",
	Known: map[string]int{
		"core/decide.Policy.Worthwhile": 1,
		"core/disruption.Options":       1,
		"core/explanation.Pool":         1,
		"core/feasibility.Constraint":   2,
		"core/topology.Obstacle":        1,
	},
}

func TestTypesAndPackagesStaySmall(t *testing.T) {
	sizes, err := MeasureSizes(os.DirFS(root), 120)
	if err != nil {
		t.Fatal(err)
	}
	ofAPIs := func(name string, _ int) bool { return within(name, "kube/api") }
	maps.DeleteFunc(sizes.Fields, ofAPIs)
	maps.DeleteFunc(sizes.Methods, ofAPIs)
	none(t, manyFields.Check(sizes.Fields), nil)
	none(t, manyMethods.Check(sizes.Methods), nil)
	none(t, manyLines.Check(sizes.Lines), nil)
	none(t, longLinesLeft.Check(sizes.Long), nil)
}

func TestCodeHasADirection(t *testing.T) {
	loaded, err := load(root, "./...")
	if err != nil {
		t.Fatal(err)
	}
	none(t, arrowsThatRunBack.Check(BackArrows(loaded)), nil)
	core := slices.DeleteFunc(loaded, func(p *packages.Package) bool { return !within(folderOf(p.PkgPath), "core") })
	none(t, callbacksOfCore.Check(Callbacks(core, "core/parallel")), nil)
}

// subjectsSince is when all commits came to have short subjects: the last longer one was published a moment before.
const subjectsSince = "2026-11-29T23:41:00Z"

func TestCommitsHaveShortSubjects(t *testing.T) {
	if _, err := fs.ReadFile(os.DirFS(root), ".git/logs/HEAD"); err != nil {
		t.Skip("no history of commits here")
	}
	found, err := CheckSubjects(t.Context(), root, subjectsSince, 72)
	none(t, found, err)
}
