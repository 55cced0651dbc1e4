package tidy

import (
	"os"
	"strings"
	"testing"
)

// root is the checkout, seen from this package.
const root = "../.."

func none(t *testing.T, found []Violation, err error) {
	t.Helper()
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range found {
		t.Error(v)
	}
}

// oneWith expects one finding with the words, or none where there are no words.
func oneWith(t *testing.T, found []Violation, err error, words string) {
	t.Helper()
	if words == "" || err != nil {
		none(t, found, err)
		return
	}
	if len(found) != 1 || !strings.Contains(found[0].String(), words) {
		t.Errorf("found %v; want one with %q", found, words)
	}
}

func TestImportDirections(t *testing.T) {
	packages, err := ListPackages(t.Context(), root)
	if err != nil {
		t.Fatal(err)
	}
	none(t, CheckImports(packages, Directions()), nil)
	none(t, CheckFolders(packages, Directions()), nil)
	none(t, CheckSiblings(packages, "controller",
		"loops do not know each other; what two need is a value in core or a write to the API"), nil)
	none(t, CheckSiblings(packages, "kube/snapshot",
		"tables do not know each other; what one needs of another it declares as an interface, and kube/snapshot joins them", "shapes", "owner", "change"), nil)
	none(t, CheckTestImports(packages, "core", "golang.org/x/tools/txtar", Module+"/internal/story", Module+"/internal/chance"), nil)
	found, err := CheckDependencies(packages, os.DirFS(root), "docs/adr/0009-dependencies.md")
	none(t, found, err)
}

func TestCoreIsPure(t *testing.T) {
	found, err := CheckPurity(root, []string{"core/parallel"}, "./core/...")
	none(t, found, err)
}

func TestCoreComputesTheSameEverywhere(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles the core for another processor")
	}
	found, err := CheckFused(t.Context(), root, "./core/...")
	none(t, found, err)
}

func TestSources(t *testing.T) {
	found, err := CheckSources(os.DirFS(root))
	none(t, found, err)
}

func TestNoMachinePaths(t *testing.T) {
	found, err := CheckMachinePaths(os.DirFS(root))
	none(t, found, err)
}

func TestNoProgramIsLeftInTheTree(t *testing.T) {
	found, err := CheckPrograms(os.DirFS(root))
	none(t, found, err)
}

func TestRecordsAreComplete(t *testing.T) {
	found, err := CheckRecords(os.DirFS(root), "docs/adr")
	none(t, found, err)
}

func TestLinksLeadSomewhere(t *testing.T) {
	found, err := CheckLinks(os.DirFS(root))
	none(t, found, err)
}

func TestStatusNamesKnownStates(t *testing.T) {
	found, err := CheckStatus(os.DirFS(root), "docs/status.md")
	none(t, found, err)
}

func TestStatusNamesEveryField(t *testing.T) {
	found, err := CheckFields(os.DirFS(root), "kube/api/crds/karpenter.sh_nodepools.yaml", "docs/status.md",
		"spec.template", "spec.template.spec", "spec.disruption")
	none(t, found, err)
	found, err = CheckFields(os.DirFS(root), "kube/api/crds/karpenter.k8s.aws_ec2nodeclasses.yaml", "docs/status.md")
	none(t, found, err)
}
