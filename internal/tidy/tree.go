package tidy

import (
	"bytes"
	"fmt"
	"go/ast"
	"go/parser"
	"go/token"
	"io/fs"
	"path"
	"regexp"
	"slices"
	"strings"
)

// fileLinesMax is where a file is certainly two files.
const fileLinesMax = 800

// emptyNames say nothing about what a package is for.
var emptyNames = []string{"util", "common", "helper", "base", "types", "manager", "engine"}

// goFile is a source file, read once for all rules.
type goFile struct {
	path   string
	syntax *ast.File
	lines  int
}

// CheckSources applies to every Go file below root: packages with names that
// say nothing, packages without a comment, func init, files too long.
// Generated files are held to none of it.
func CheckSources(root fs.FS) ([]Violation, error) {
	files, err := goFiles(root)
	if err != nil {
		return nil, err
	}
	var found []Violation
	for _, f := range files {
		found = append(found, checkFile(f)...)
	}
	return append(found, checkPackageComments(files)...), nil
}

func checkFile(f goFile) []Violation {
	var found []Violation
	report := func(what, reason string) {
		found = append(found, Violation{f.path, what, reason})
	}
	name := strings.TrimSuffix(f.syntax.Name.Name, "_test")
	if slices.Contains(emptyNames, strings.TrimSuffix(name, "s")) || slices.Contains(emptyNames, name) {
		report("is in package "+name, "the name does not say what the package is for")
	}
	if f.lines > fileLinesMax {
		report(fmt.Sprintf("has %d lines", f.lines), fmt.Sprintf("split what is longer than %d", fileLinesMax))
	}
	for _, d := range f.syntax.Decls {
		if function, ok := d.(*ast.FuncDecl); ok && function.Recv == nil && function.Name.Name == "init" {
			report("has func init", "wire in plain sight, in cmd")
		}
	}
	return found
}

// checkPackageComments wants one file of every package to say what it is for.
func checkPackageComments(files []goFile) []Violation {
	documented := map[string]bool{}
	var folders []string
	for _, f := range files {
		if strings.HasSuffix(f.path, "_test.go") {
			continue
		}
		folder := path.Dir(f.path)
		if _, seen := documented[folder]; !seen {
			folders = append(folders, folder)
			documented[folder] = false
		}
		if f.syntax.Doc.Text() != "" {
			documented[folder] = true
		}
	}
	var found []Violation
	for _, folder := range folders {
		if !documented[folder] {
			found = append(found, Violation{folder, "has no package comment",
				"say what it is for, what it promises and what it does not do"})
		}
	}
	return found
}

func goFiles(root fs.FS) ([]goFile, error) {
	var files []goFile
	err := walk(root, func(name string, content []byte) error {
		if !strings.HasSuffix(name, ".go") {
			return nil
		}
		syntax, err := parser.ParseFile(token.NewFileSet(), name, content, parser.ParseComments|parser.SkipObjectResolution)
		if err != nil {
			return fmt.Errorf("parse %s: %w", name, err)
		}
		if !ast.IsGenerated(syntax) {
			files = append(files, goFile{path: name, syntax: syntax, lines: bytes.Count(content, []byte("\n"))})
		}
		return nil
	})
	return files, err
}

// machinePath finds places on somebody's disk: two folders that no product
// file has a reason to name, and the temporary folder in documents. They are
// spelled in pieces, so that this file does not name them.
var (
	machinePath  = regexp.MustCompile("(^|[\\s\"'`(=:,])/(wo" + "rk|ro" + "ot)/")
	documentPath = regexp.MustCompile("(^|[\\s\"'`(=:,])/(wo" + "rk|ro" + "ot|tm" + "p)/")
)

// CheckMachinePaths reports files that name folders of a developer's machine.
func CheckMachinePaths(root fs.FS) ([]Violation, error) {
	var found []Violation
	err := walk(root, func(name string, content []byte) error {
		pattern := machinePath
		if path.Ext(name) == ".md" {
			pattern = documentPath
		}
		if bytes.IndexByte(content, 0) >= 0 || strings.HasSuffix(name, "go.sum") {
			return nil
		}
		for i, line := range bytes.Split(content, []byte("\n")) {
			if pattern.Match(line) {
				found = append(found, Violation{fmt.Sprintf("%s:%d", name, i+1), "names a folder of one host",
					"write paths relative to the checkout"})
			}
		}
		return nil
	})
	return found, err
}

// CheckPrograms reports programs that were built and left where git takes them in.
func CheckPrograms(root fs.FS) ([]Violation, error) {
	var found []Violation
	err := walk(root, func(name string, content []byte) error {
		if bytes.HasPrefix(content, []byte("\x7fELF")) {
			found = append(found, Violation{name, "is a program", "build into bin, which git leaves out"})
		}
		return nil
	})
	return found, err
}

// walk calls visit for every regular file of the checkout; it leaves out
// folders that git does, what is not text, and the file by which one of several
// checkouts of a repository names the other.
func walk(root fs.FS, visit func(name string, content []byte) error) error {
	return fs.WalkDir(root, ".", func(name string, entry fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		if entry.IsDir() {
			if slices.Contains([]string{".git", "bin", "dist", ".lab"}, entry.Name()) {
				return fs.SkipDir
			}
			return nil
		}
		if !entry.Type().IsRegular() || slices.Contains([]string{".gz", ".png"}, path.Ext(name)) || name == ".git" {
			return nil
		}
		content, err := fs.ReadFile(root, name)
		if err != nil {
			return err
		}
		return visit(name, content)
	})
}
