package tidy

import (
	"cmp"
	"fmt"
	"go/doc"
	"go/parser"
	"go/token"
	"io/fs"
	"maps"
	"path"
	"regexp"
	"slices"
	"strings"
)

//go:generate go run ./folders ../..

// Part is a folder at the top of the repository, and what the list of folders says of it where no package there says so.
type Part struct{ Folder, Line string }

// Parts returns the folders at the top, in the order of the list.
func Parts() []Part {
	return []Part{
		{"core", "makes decisions: values in, values out. It imports only the standard library and itself."},
		{"cloud", ""},
		{"kube", "all code that knows Kubernetes."},
		{"controller", ""},
		{"observe", ""},
		{"ui", "(later) pure views for a terminal and a web dashboard."},
		{"cmd", "the programs: flags and wiring, nothing else."},
		{"doctor", ""},
		{"simulate", ""},
		{"bench", ""},
		{"migrate", ""},
		{"test", "what tests use. Programs for users contain none of it, except the emulated AWS of labs."},
		{"demo", ""},
		{"examples", ""},
		{"lab", "an embedded cluster: etcd, API server, scheduler, controller manager, emulated nodes."},
		{"charts", ""},
		{"deploy", ""},
		{"internal", "small helpers that know nothing about the product, and tools for its development."},
		{"docs", "this page, decisions (adr), concepts, tasks, reference, status."},
	}
}

// folded are folders of many packages whose names say enough.
var folded = []string{"cloud/aws", "kube/api", "lab", "deploy/monitoring", "internal/release", "internal/lint"}

// Where the list of folders stands in a document.
const (
	foldersBegin = "<!-- folders: written by `make generate` from package comments -->\n"
	foldersEnd   = "<!-- end of folders -->\n"
)

// WithFolders returns a document with the list of folders between its two marks.
func WithFolders(root fs.FS, document string) (string, error) {
	list, err := listFolders(root)
	if err != nil {
		return "", err
	}
	before, rest, begins := strings.Cut(document, foldersBegin)
	_, after, ends := strings.Cut(rest, foldersEnd)
	if !begins || !ends {
		return "", fmt.Errorf("find the list of folders: there is no %s with %s after it", strings.TrimSpace(foldersBegin), strings.TrimSpace(foldersEnd))
	}
	return before + foldersBegin + "```\n" + list + "```\n" + foldersEnd + after, nil
}

// CheckFolderList reports a document whose list of folders says something else than the package comments.
func CheckFolderList(root fs.FS, file string) ([]Violation, error) {
	content, err := fs.ReadFile(root, file)
	if err != nil {
		return nil, fmt.Errorf("read the list of folders: %w", err)
	}
	want, err := WithFolders(root, string(content))
	if err != nil {
		return nil, err
	}
	if want == string(content) {
		return nil, nil
	}
	return []Violation{{file, "lists folders otherwise than package comments do", "run go generate ./internal/tidy; " + firstDifference(string(content), want)}}, nil
}

func firstDifference(has, want string) string {
	a, b := strings.Split(has, "\n"), strings.Split(want, "\n")
	for i := range min(len(a), len(b)) {
		if a[i] != b[i] {
			return fmt.Sprintf("line %d will be %q", i+1, b[i])
		}
	}
	return "its end differs"
}

// tree is what there is to know of folders for their list.
type tree struct {
	says     map[string]string // what the comment of each package begins with
	programs map[string]bool   // folders of package main
	modules  map[string]bool   // folders that are modules of their own
	tops     map[string]bool   // at the top, be there Go code or none
}

func readTree(root fs.FS) (tree, error) {
	t := tree{map[string]string{}, map[string]bool{}, map[string]bool{}, map[string]bool{}}
	err := walk(root, func(name string, content []byte) error {
		folder := path.Dir(name)
		if folder == "." || strings.HasPrefix(name, ".") || slices.Contains(strings.Split(name, "/"), "testdata") {
			return nil
		}
		t.tops[topOf(name)] = true
		t.modules[folder] = t.modules[folder] || path.Base(name) == "go.mod"
		if path.Ext(name) != ".go" {
			return nil
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ParseComments|parser.PackageClauseOnly)
		if err != nil {
			return fmt.Errorf("parse %s: %w", name, err)
		}
		t.programs[folder] = syntax.Name.Name == "main"
		t.says[folder] = cmp.Or(t.says[folder], firstSentence(syntax.Doc.Text()))
		return nil
	})
	return t, err
}

func topOf(name string) string {
	top, _, _ := strings.Cut(name, "/")
	return top
}

var namesPackage = regexp.MustCompile(`^(?:Package|Command|Program) \S+ (?:is )?`)

// firstSentence is what a package comment says of the package first, without its name.
func firstSentence(comment string) string {
	return namesPackage.ReplaceAllString(new(doc.Package).Synopsis(comment), "")
}

// listFolders writes the list: each folder at the top, and below it each package in it.
func listFolders(root fs.FS) (string, error) {
	t, err := readTree(root)
	if err != nil {
		return "", err
	}
	var b strings.Builder
	parts := Parts()
	for _, folder := range slices.Sorted(maps.Keys(t.tops)) {
		if !slices.ContainsFunc(parts, func(p Part) bool { return p.Folder == folder }) {
			parts = append(parts, Part{Folder: folder})
		}
	}
	for _, p := range parts {
		says := cmp.Or(p.Line, t.says[p.Folder])
		switch later := strings.HasPrefix(p.Line, "(later)"); {
		case !later && !t.tops[p.Folder]:
			continue
		case says == "":
			return "", fmt.Errorf("list folders: say what %s is for, in Parts of internal/tidy/folders.go", p.Folder)
		}
		t.line(&b, p.Folder, p.Folder, says)
		t.below(&b, p.Folder)
	}
	return b.String(), nil
}

// listColumns is how wide the list is, but for sentences that are longer, and nameColumns where they begin.
const (
	listColumns = 150
	nameColumns = 24
)

// below writes a line for each package in a folder at the top. What programs of a package's own make for it goes without.
func (t tree) below(b *strings.Builder, part string) {
	t.names(b, part)
	for _, folder := range slices.Sorted(maps.Keys(t.says)) {
		if topOf(folder) != part || folder == part || t.isTool(folder) || foldedIn(folder) != "" {
			continue
		}
		t.line(b, folder, "  "+strings.TrimPrefix(folder, part+"/"), t.says[folder])
		t.names(b, folder)
	}
}

func (t tree) line(b *strings.Builder, folder, name, says string) {
	if t.modules[folder] {
		says = "OWN GO MODULE: " + says
	}
	fmt.Fprintf(b, "%-*s %s\n", nameColumns-1, name+"/", says)
}

// names writes the names of the packages in a folder where these say enough.
func (t tree) names(b *strings.Builder, in string) {
	if !slices.Contains(folded, in) {
		return
	}
	line := ""
	for _, folder := range slices.Sorted(maps.Keys(t.says)) {
		if foldedIn(folder) != in || t.isTool(folder) {
			continue
		}
		name := " " + strings.TrimPrefix(folder, in+"/") + "/"
		if line != "" && nameColumns+len(line)+len(name) > listColumns {
			fmt.Fprintf(b, "%-*s%s\n", nameColumns-1, "", line)
			line = ""
		}
		line += name
	}
	fmt.Fprintf(b, "%-*s%s\n", nameColumns-1, "", line)
}

// foldedIn is the folder whose line names this one, "" for none.
func foldedIn(folder string) string {
	for _, f := range folded {
		if folder != f && within(folder, f) {
			return f
		}
	}
	return ""
}

// isTool says whether a folder holds a program that a package above it has for itself.
func (t tree) isTool(folder string) bool {
	_, above := t.says[path.Dir(folder)]
	_, further := t.says[path.Dir(path.Dir(folder))]
	return t.programs[folder] && (above || further)
}
