package main

import (
	"encoding/json"
	"fmt"
	"go/ast"
	"go/build"
	"go/importer"
	"go/parser"
	"go/token"
	"go/types"
	"io"
	"os"
	"path/filepath"
	"strings"

	"golang.org/x/tools/go/analysis"

	"github.com/daemok/daemok/internal/lint/unit"
)

// run is one package and what has been found out about it so far.
type run struct {
	unit     unit.Unit
	fset     *token.FileSet
	files    []*ast.File
	pkg      *types.Package
	info     *types.Info
	sizes    types.Sizes
	facts    facts
	results  map[*analysis.Analyzer]any
	findings map[string][]finding // by analyzer
}

// finding is one as go vet reads it.
type finding struct {
	Place   string `json:"posn"` // file:line:column, the file from its module's folder
	Message string `json:"message"`
}

// load reads a package's files and finds the types in them. Those of packages that it imports come from what the
// compiler has written.
func load(u unit.Unit) (*run, error) {
	r := &run{unit: u, fset: token.NewFileSet(), facts: facts{}, results: map[*analysis.Analyzer]any{}, findings: map[string][]finding{}}
	for _, name := range u.GoFiles {
		file, err := parser.ParseFile(r.fset, name, nil, parser.ParseComments)
		if err != nil {
			return nil, err
		}
		r.files = append(r.files, file)
	}
	compiled := importer.ForCompiler(r.fset, "gc", func(path string) (io.ReadCloser, error) {
		name, ok := u.PackageFile[path]
		if !ok {
			return nil, fmt.Errorf("go vet names no compiled package for %s: does this version of Go still compile what is imported?", path)
		}
		return os.Open(name)
	})
	r.sizes = types.SizesFor("gc", build.Default.GOARCH)
	config := types.Config{Importer: mapped{compiled, u.ImportMap}, Sizes: r.sizes, GoVersion: u.GoVersion}
	r.info = &types.Info{
		Types:        map[ast.Expr]types.TypeAndValue{},
		Defs:         map[*ast.Ident]types.Object{},
		Uses:         map[*ast.Ident]types.Object{},
		Implicits:    map[ast.Node]types.Object{},
		Instances:    map[*ast.Ident]types.Instance{},
		Scopes:       map[ast.Node]*types.Scope{},
		Selections:   map[*ast.SelectorExpr]*types.Selection{},
		FileVersions: map[*ast.File]string{},
	}
	var err error
	r.pkg, err = config.Check(u.ImportPath, r.fset, r.files, r.info)
	return r, err
}

// mapped imports packages under the names that files have for them: those of tests and vendored ones differ from their paths.
type mapped struct {
	compiled types.Importer
	paths    map[string]string
}

func (m mapped) Import(name string) (*types.Package, error) {
	path, ok := m.paths[name]
	if !ok {
		return nil, fmt.Errorf("go vet has no path for the import of %s", name)
	}
	return m.compiled.Import(path)
}

// all runs analyzers in turn, each after those it is built on. Go vet checks several packages at once.
func (r *run) all(some []*analysis.Analyzer) error {
	for _, a := range some {
		if _, done := r.results[a]; done {
			continue
		}
		if err := r.all(a.Requires); err != nil {
			return err
		}
		result, err := a.Run(r.pass(a))
		if err != nil {
			return fmt.Errorf("%s in %s: %w", a.Name, r.unit.ID, err)
		}
		r.results[a] = result
	}
	return nil
}

func (r *run) pass(a *analysis.Analyzer) *analysis.Pass {
	return &analysis.Pass{
		Analyzer:          a,
		Fset:              r.fset,
		Files:             r.files,
		OtherFiles:        r.unit.NonGoFiles,
		IgnoredFiles:      r.unit.IgnoredFiles,
		Pkg:               r.pkg,
		TypesInfo:         r.info,
		TypesSizes:        r.sizes,
		Module:            &analysis.Module{Path: r.unit.ModulePath, Version: r.unit.ModuleVersion, GoVersion: r.unit.GoVersion},
		ResultOf:          r.results,
		ReadFile:          os.ReadFile,
		Report:            func(d analysis.Diagnostic) { r.found(a, d) },
		ImportObjectFact:  func(o types.Object, f analysis.Fact) bool { return r.facts.get(o, f) },
		ImportPackageFact: func(p *types.Package, f analysis.Fact) bool { return r.facts.get(p, f) },
		ExportObjectFact:  func(o types.Object, f analysis.Fact) { r.facts.set(o, f) },
		ExportPackageFact: func(f analysis.Fact) { r.facts.set(r.pkg, f) },
		AllObjectFacts:    func() []analysis.ObjectFact { return r.facts.objects(a.FactTypes) },
		AllPackageFacts:   func() []analysis.PackageFact { return r.facts.packages(a.FactTypes) },
	}
}

func (r *run) found(a *analysis.Analyzer, d analysis.Diagnostic) {
	place := r.fset.Position(d.Pos)
	place.Filename = inModule(place.Filename)
	r.findings[a.Name] = append(r.findings[a.Name], finding{place.String(), d.Message})
}

// inModule is the path of a file from the folder of its module: what is found is kept for every
// checkout of the same code.
func inModule(file string) string {
	for folder := filepath.Dir(file); folder != filepath.Dir(folder); folder = filepath.Dir(folder) {
		if _, err := os.Stat(filepath.Join(folder, "go.mod")); err == nil {
			return strings.TrimPrefix(file, folder+string(filepath.Separator))
		}
	}
	return file
}

// writeFindings writes what was found in the form that go vet keeps and prints: package, analyzer, findings.
func (r *run) writeFindings(id, file string) error {
	if r.unit.VetxOnly || len(r.findings) == 0 {
		return nil
	}
	text, err := json.Marshal(map[string]map[string][]finding{id: r.findings})
	if err != nil {
		return err
	}
	return os.WriteFile(file, text, 0o666)
}
