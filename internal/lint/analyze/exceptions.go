package main

import (
	"go/ast"
	"reflect"
	"regexp"
	"slices"
	"strings"

	"golang.org/x/tools/go/analysis"
)

// exception is a kind of finding that is no mistake here. An expression that is nil matches all.
type exception struct {
	linters []string
	file    *regexp.Regexp // its path
	text    *regexp.Regexp // of the finding, its rule included
}

// exceptions hold in all modules, besides two: generated files are not checked, and a comment
//
//	//nolint:errcheck // why
//
// keeps one linter, or some with commas between them, from the line that it ends.
var exceptions = []exception{
	{linters: []string{"noctx", "errcheck", "bodyclose"}, file: tests},
	// f() != f() is how a test asks for the same answer twice.
	{linters: []string{"staticcheck"}, file: tests, text: regexp.MustCompile(`\bSA4000\b`)},
	// A loop that ends because its context does has not failed.
	{linters: []string{"nilerr"}, file: regexp.MustCompile(`/controller/planner/planner\.go$`)},
	// Listeners and long-lived children are closed in order, not by a context.
	{linters: []string{"noctx"}, text: regexp.MustCompile(`\bnet\.Listen|\bexec\.Command`)},
}

var (
	tests         = regexp.MustCompile(`_test\.go$`)
	nolintComment = regexp.MustCompile(`^//\s*nolint:([\w,]+)`)
)

// restrict has an analyzer put linter and rule before what it finds, and keep what is excepted to itself.
func (l linter) restrict(a *analysis.Analyzer) {
	rule := l.name + ": "
	if len(l.runs) > 1 {
		rule = l.name + "/" + a.Name + ": "
	}
	a.Requires = append(slices.Clone(a.Requires), marksAnalyzer)
	run := a.Run
	a.Run = func(pass *analysis.Pass) (any, error) {
		marked := pass.ResultOf[marksAnalyzer].(marks)
		report := pass.Report
		pass.Report = func(found analysis.Diagnostic) {
			at := pass.Fset.Position(found.Pos)
			found.Message = rule + found.Message
			if !marked.except(l.name, place{at.Filename, at.Line}) && !excepted(l.name, at.Filename, found.Message) {
				report(found)
			}
		}
		return run(pass)
	}
}

func excepted(linter, file, text string) bool {
	return slices.ContainsFunc(exceptions, func(e exception) bool {
		return slices.Contains(e.linters, linter) &&
			(e.file == nil || e.file.MatchString(file)) &&
			(e.text == nil || e.text.MatchString(text))
	})
}

// marks are what the files of a package say of themselves.
type marks struct {
	generated map[string]bool    // files
	nolint    map[place][]string // linters
}

type place struct {
	file string
	line int
}

func (m marks) except(linter string, at place) bool {
	return m.generated[at.file] || slices.Contains(m.nolint[at], linter)
}

var marksAnalyzer = &analysis.Analyzer{
	Name:       "marks",
	Doc:        "read which files are generated, and nolint comments",
	Run:        func(pass *analysis.Pass) (any, error) { return readMarks(pass), nil },
	ResultType: reflect.TypeFor[marks](),
}

func readMarks(pass *analysis.Pass) marks {
	m := marks{map[string]bool{}, map[place][]string{}}
	for _, file := range pass.Files {
		if ast.IsGenerated(file) {
			m.generated[pass.Fset.File(file.FileStart).Name()] = true
		}
		for _, group := range file.Comments {
			for _, comment := range group.List {
				if found := nolintComment.FindStringSubmatch(comment.Text); found != nil {
					at := pass.Fset.Position(comment.Pos())
					m.nolint[place{at.Filename, at.Line}] = strings.Split(found[1], ",")
				}
			}
		}
	}
	return m
}
