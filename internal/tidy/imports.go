package tidy

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"slices"
	"strings"
)

// Package is holds tests of the repository itself: the rules that a compiler does not know. Such are which
// folder may import which, what the core may not do, how packages are named, how large types are, and that
// the documents are complete. Such are which folder may import which, what the core may not do, how
// packages are named, how large types are, and that the documents are complete.
type Package struct {
	ImportPath   string
	Standard     bool
	Imports      []string // by its own files, tests not counted
	TestImports  []string
	XTestImports []string
}

// ImportRule says what the packages in one folder may reach. Names are import
// paths; "./x" is folder x of this module, "std" the standard library. A name
// covers everything below it.
type ImportRule struct {
	Folder string
	Except []string // folders below Folder that the rule leaves out
	Only   []string // when set, nothing else may be reached
	Never  []string
	Direct bool // look at the package's own imports alone, not at what those import
	Reason string
}

// ListPackages returns the packages of the module in dir and all they import.
func ListPackages(ctx context.Context, dir string) ([]Package, error) {
	cmd := exec.CommandContext(ctx, "go", "list", "-deps", "-json=ImportPath,Standard,Imports,TestImports,XTestImports", "./...")
	cmd.Dir = dir
	var stderr bytes.Buffer
	cmd.Stderr = &stderr
	out, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages of %s: %w: %s", dir, err, stderr.String())
	}
	var packages []Package
	for dec := json.NewDecoder(bytes.NewReader(out)); ; {
		var p Package
		err := dec.Decode(&p)
		if errors.Is(err, io.EOF) {
			return packages, nil
		}
		if err != nil {
			return nil, fmt.Errorf("read the answer of go list in %s: %w", dir, err)
		}
		packages = append(packages, p)
	}
}

// CheckFolders reports rules for folders without packages: a folder that has another name now would be free of its rules.
func CheckFolders(packages []Package, rules []ImportRule) (found []Violation) {
	for _, r := range rules {
		has := func(p Package) bool { return within(folderOf(p.ImportPath), r.Folder) }
		if r.Folder != "." && !slices.ContainsFunc(packages, has) {
			found = append(found, Violation{r.Folder, "has a rule and no package", "give the rule the folder's name: " + r.Reason})
		}
	}
	return found
}

// CheckImports applies rules to packages and returns one violation for each
// forbidden package that is reached, with the shortest way there.
func CheckImports(packages []Package, rules []ImportRule) []Violation {
	graph := make(map[string]Package, len(packages))
	for _, p := range packages {
		graph[p.ImportPath] = p
	}
	var found []Violation
	for _, p := range packages {
		for _, rule := range rules {
			if rule.covers(folderOf(p.ImportPath)) {
				found = append(found, rule.check(p, graph)...)
			}
		}
	}
	return found
}

func (r ImportRule) covers(folder string) bool {
	if folder == "" || r.Folder != "." && !within(folder, r.Folder) {
		return false
	}
	return !slices.ContainsFunc(r.Except, func(e string) bool { return within(folder, e) })
}

// check walks the imports of p breadth first. A forbidden package is reported
// and not walked through: what lies behind it is its own affair.
func (r ImportRule) check(p Package, graph map[string]Package) []Violation {
	var found []Violation
	via := map[string]string{p.ImportPath: ""}
	queue := []string{p.ImportPath}
	for len(queue) > 0 {
		at := queue[0]
		queue = queue[1:]
		if r.Direct && at != p.ImportPath {
			break
		}
		for _, next := range graph[at].Imports {
			if _, seen := via[next]; seen {
				continue
			}
			via[next] = at
			if r.forbids(next, graph[next]) {
				found = append(found, Violation{folderOf(p.ImportPath), "imports " + wayTo(next, via), r.Reason})
				continue
			}
			if !graph[next].Standard {
				queue = append(queue, next)
			}
		}
	}
	return found
}

func (r ImportRule) forbids(path string, p Package) bool {
	if path == "C" || path == "unsafe" {
		return false
	}
	is := func(name string) bool {
		if name == "std" {
			return p.Standard
		}
		if folder, ok := strings.CutPrefix(name, "./"); ok {
			name = Module + "/" + folder
		}
		return within(path, name)
	}
	if slices.ContainsFunc(r.Never, is) {
		return true
	}
	return len(r.Only) > 0 && !slices.ContainsFunc(r.Only, is)
}

// wayTo prints "b (through a)" for a package reached by way of others.
func wayTo(path string, via map[string]string) string {
	var through []string
	for at := via[path]; via[at] != ""; at = via[at] {
		through = append(through, at)
	}
	if len(through) == 0 {
		return path
	}
	slices.Reverse(through)
	return fmt.Sprintf("%s (through %s)", path, strings.Join(through, ", "))
}
