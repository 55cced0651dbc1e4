package tidy

import (
	"slices"
	"strings"
)

// Directions returns the import rules of docs/architecture.md, chapter 3.
func Directions() []ImportRule {
	rules := []ImportRule{
		{Folder: "core", Only: []string{"std", "./core"},
			Reason: "the core decides on values; kube/translate and cloud adapters convert"},
		{Folder: "core", Direct: true, Never: []string{"log", "os", "net", "syscall", "context", "math/rand", "crypto/rand"},
			Reason: "the core has no log, clock, network, file or chance of its own; it gets values and returns values"},
		{Folder: "core", Except: []string{"core/parallel"}, Direct: true, Never: []string{"sync", "runtime"},
			Reason: "goroutines of the core live in core/parallel"},
		{Folder: "test/sim", Only: []string{"std", "./core", "./test/sim"},
			Reason: "the simulator drives the core alone"},
		{Folder: "cloud", Never: []string{"k8s.io", "sigs.k8s.io/controller-runtime", "./kube", "./controller", "./observe"},
			Reason: "a provider launches instances; it does not know Kubernetes"},
		{Folder: "cloud", Except: []string{"cloud/aws"}, Never: []string{"github.com/aws"},
			Reason: "AWS is reached in cloud/aws alone"},
		{Folder: "test/market", Never: []string{"./test/fakecloud", "./test/emulator"},
			Reason: "the emulator and the cloud in memory use the market"},
		{Folder: ".", Except: []string{"cloud/aws"}, Direct: true, Never: []string{"github.com/aws"},
			Reason: "an AWS call is made in cloud/aws and nowhere else"},
		{Folder: "kube", Never: []string{"./cloud/aws", "./controller", "./observe", "github.com/aws"},
			Reason: "kube knows Kubernetes; it meets the cloud in controller"},
		{Folder: ".", Except: []string{"cmd"}, Never: []string{controllerRuntime + "/pkg/manager", controllerRuntime + "/pkg/builder"},
			Reason: "managers and builders live in cmd: any caller drives loops, in virtual time too"},
		{Folder: ".", Except: []string{"cmd", "controller", "kube/snapshot", "test/store", "observe/follow"}, Direct: true,
			Never:  []string{controllerRuntime + "/pkg/cache"},
			Reason: "informers are handed to what follows watches: kube/snapshot, observe/follow, and controller, which passes them on"},
		{Folder: ".", Except: []string{"cmd", "migrate", "kube/translate/provisioner"}, Never: []string{"./kube/translate/provisioner"},
			Reason: "kube/translate/provisioner is a leaf: delete it and migrate, and the rest builds"},
		{Folder: ".", Except: []string{"cmd/daemok", "migrate"}, Never: []string{"./migrate"},
			Reason: "migrate is a leaf of the user's command: delete it and the controller builds"},
		{Folder: "migrate", Never: []string{"./cloud/aws", "./controller", "./observe", "github.com/aws"},
			Reason: "migrate knows Kubernetes and values; cmd joins it with AWS"},
		{Folder: ".", Never: []string{"./lab"},
			Reason: "the lab is a module of its own; speak to it by its commands and the Kubernetes API"},
		{Folder: ".", Except: []string{"cmd", "demo", "ui"}, Never: []string{"./ui"},
			Reason: "screens are joined in cmd; the demo is one by itself"},
		{Folder: ".", Except: []string{"cmd"}, Never: []string{"./cmd"},
			Reason: "cmd wires; nothing builds on it"},
		{Folder: "demo", Never: []string{"./controller", "./cloud", "./core"},
			Reason: "the demo is a user: it knows the cluster by its API alone"},
		{Folder: "cmd/daemok-controller", Never: []string{"testing"},
			Reason: "pretenders and test helpers do not ship in the controller"},
		{Folder: ".", Except: []string{"test", "bench", "simulate", "cmd/daemok"}, Never: []string{"./test"},
			Reason: "test holds what the product is tested with; measurements and simulations use it too"},
		{Folder: ".", Never: []string{"sigs.k8s.io/karpenter", "github.com/aws/karpenter-provider-aws", "github.com/awslabs/operatorpkg"},
			Reason: "Daemok is written independently; it shares APIs, not code"},
	}
	return slices.Concat(rules, loops(), layers())
}

// controllerRuntime is the library that watches and drives loops.
const controllerRuntime = "sigs.k8s.io/controller-runtime"

// loops returns what the folders of single loops may not know.
func loops() []ImportRule {
	var rules []ImportRule
	for _, name := range []string{"class", "garbagecollection", "launch", "nodeclaim", "nodepool", "planner", "status", "termination"} {
		rules = append(rules, ImportRule{Folder: "controller/" + name, Direct: true, Never: []string{controllerRuntime + "/pkg/cache"},
			Reason: "a loop has a client, and its caller notifies it of changes"})
	}
	return rules
}

// layers returns the order inside the core: a package may reach those before
// it. Plan lies beside fit, so neither is held against the other.
func layers() []ImportRule {
	order := [][]string{
		{"core/parallel", "core/bitset", "core/bound"}, {"core/quantity"},
		{"core/constraint", "core/commitment"}, {"core/cluster", "core/device"},
		{"core/feasibility", "core/offering", "core/overlay", "core/plan", "core/topology"}, {"core/pack"}, {"core/place", "core/whatif"}, {"core/removal"}, {"core/disruption"}, {"core/decide"}, {"core/scenario"},
	}
	var rules []ImportRule
	for i, rank := range order {
		var later []string
		for _, folder := range slices.Concat(order[i+1:]...) {
			later = append(later, "./"+folder)
		}
		for _, folder := range rank {
			if len(later) > 0 {
				rules = append(rules, ImportRule{Folder: folder, Never: later,
					Reason: "the core is layered: " + strings.ReplaceAll(folder, "core/", "") + " comes before it"})
			}
		}
	}
	return rules
}

// CheckSiblings reports packages in different folders directly below parent
// that import each other. Any may import those that they share.
func CheckSiblings(packages []Package, parent, reason string, shared ...string) []Violation {
	sibling := func(path string) string {
		rest, ok := strings.CutPrefix(folderOf(path), parent+"/")
		if !ok {
			return ""
		}
		name, _, _ := strings.Cut(rest, "/")
		return name
	}
	var found []Violation
	for _, p := range packages {
		own := sibling(p.ImportPath)
		if own == "" {
			continue
		}
		for _, imported := range p.Imports {
			if other := sibling(imported); other != "" && other != own && !slices.Contains(shared, other) {
				found = append(found, Violation{folderOf(p.ImportPath), "imports " + imported, reason})
			}
		}
	}
	return found
}

// CheckTestImports reports what the tests of the core import beyond the
// standard library, this module and the allowed packages.
func CheckTestImports(packages []Package, folder string, allowed ...string) []Violation {
	var found []Violation
	for _, p := range packages {
		if !within(folderOf(p.ImportPath), folder) {
			continue
		}
		for _, imported := range slices.Concat(p.TestImports, p.XTestImports) {
			first, _, _ := strings.Cut(imported, "/")
			standard := !strings.Contains(first, ".")
			if standard || within(imported, Module+"/"+folder) || slices.Contains(allowed, imported) {
				continue
			}
			found = append(found, Violation{folderOf(p.ImportPath), "imports " + imported + " in a test",
				"tests of the core need the core and story files only"})
		}
	}
	return found
}
