package main

import (
	"slices"
	"strings"

	"codeberg.org/polyfloyd/go-errorlint/errorlint"
	"github.com/gordonklaus/ineffassign/pkg/ineffassign"
	"github.com/gostaticanalysis/nilerr"
	"github.com/karamaru-alpha/copyloopvar"
	"github.com/mgechev/revive/lint"
	"github.com/mgechev/revive/rule"
	usestdlibvars "github.com/sashamelentyev/usestdlibvars/pkg/analyzer"
	"github.com/sonatard/noctx"
	"github.com/timakin/bodyclose/passes/bodyclose"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/analysis/passes/inline"
	"golang.org/x/tools/go/analysis/passes/loopclosure"
	"golang.org/x/tools/go/analysis/suite/vet"
	"honnef.co/go/tools/analysis/facts/deprecated"
	sclint "honnef.co/go/tools/analysis/lint"
	"honnef.co/go/tools/quickfix"
	"honnef.co/go/tools/simple"
	"honnef.co/go/tools/staticcheck"
	"honnef.co/go/tools/stylecheck"
)

// linter is one name that findings, exceptions and nolint comments give, and what it runs.
type linter struct {
	name string
	runs []*analysis.Analyzer
}

// linters find what a reviewer would ask for every time, and nothing that has to be argued about.
func linters() []linter {
	return []linter{
		{"bodyclose", one(bodyclose.Analyzer)},          // a response body left open leaks a connection
		{"copyloopvar", one(copyloopvar.NewAnalyzer())}, // a copy of a loop's variable, which each turn has of its own since Go 1.22
		{"errcheck", one(errcheckAnalyzer)},             // an error that is not checked
		{"errorlint", one(errorlintAnalyzer())},         // errors.Is and errors.As, not == and type assertions
		{"govet", govet()},                              // go vet's own
		{"ineffassign", one(ineffassign.Analyzer)},      // a value that is not read
		{"misspell", one(misspellAnalyzer)},             // common mistakes of spelling
		{"nilerr", one(nilerr.Analyzer)},                // returns nil although an error was found
		{"noctx", one(noctx.Analyzer)},                  // every request carries a context
		{"revive", one(reviveAnalyzer)},                 // reviveRules
		{"staticcheck", staticchecks()},                 // all but staticcheckOff
		{"unconvert", one(unconvertAnalyzer)},           // a conversion to the type that a value has
		{"unused", one(unusedAnalyzer)},                 // what is never called, read or mentioned
		{"usestdlibvars", one(usestdlibvars.New())},     // http.MethodGet, not "GET"
	}
}

// everything returns the analyzers of all linters, with names and exceptions put on what they find.
func everything() []*analysis.Analyzer {
	var all []*analysis.Analyzer
	for _, l := range linters() {
		for _, a := range l.runs {
			l.restrict(a)
			all = append(all, a)
		}
	}
	return all
}

// directives leave facts about what comments say to a package's users.
var directives = []*analysis.Analyzer{deprecated.Analyzer, inline.Analyzer}

// errcheckOff are functions whose errors need no check.
var errcheckOff = []string{
	"fmt.Fprint", "fmt.Fprintf", "fmt.Fprintln",
	"(io.Closer).Close", "(*os.File).Close", "(net.Listener).Close",
}

// staticcheckOff are the checks that are not run: those of style that revive has in a milder form, and
// SA4023, which asks of each function of every dependency whether it may return nil.
var staticcheckOff = strings.Fields("SA4023 QF1001 QF1008 ST1000 ST1003 ST1005 ST1016 ST1020 ST1021 ST1022")

// reviveRules are the rules of revive that are run, with their arguments.
var reviveRules = []struct {
	rule      lint.Rule
	arguments lint.Arguments
}{
	{&rule.BlankImportsRule{}, nil},
	{&rule.ContextAsArgumentRule{}, nil},
	{&rule.DotImportsRule{}, nil},
	{&rule.EarlyReturnRule{}, nil},
	{&rule.ErrorNamingRule{}, nil},
	{&rule.ErrorReturnRule{}, nil},
	{&rule.ExportedRule{}, lint.Arguments{"disableStutteringCheck", "disableChecksOnConstants"}},
	{&rule.PackageCommentsRule{}, nil},
	{&rule.ReceiverNamingRule{}, nil},
	{&rule.SuperfluousElseRule{}, nil},
	{&rule.UnexportedReturnRule{}, nil},
	{&rule.UnreachableCodeRule{}, nil},
	{&rule.VarDeclarationsRule{}, nil},
}

func one(a *analysis.Analyzer) []*analysis.Analyzer { return []*analysis.Analyzer{a} }

// govet returns what go vet runs and what `go fix` inlines, without what Go 1.22 has made pointless.
func govet() []*analysis.Analyzer {
	runs := slices.DeleteFunc(slices.Clone(vet.Suite), func(a *analysis.Analyzer) bool { return a == loopclosure.Analyzer })
	return append(runs, inline.Analyzer)
}

func staticchecks() []*analysis.Analyzer {
	var runs []*analysis.Analyzer
	for _, checks := range [][]*sclint.Analyzer{staticcheck.Analyzers, simple.Analyzers, stylecheck.Analyzers, quickfix.Analyzers} {
		for _, check := range checks {
			if !slices.Contains(staticcheckOff, check.Analyzer.Name) {
				runs = append(runs, check.Analyzer)
			}
		}
	}
	return runs
}

// errorlintAnalyzer asks for %w too. An error may wrap two: what was last seen of a wait, and the deadline.
func errorlintAnalyzer() *analysis.Analyzer {
	a := errorlint.NewAnalyzer()
	if err := a.Flags.Set("errorf", "true"); err != nil {
		panic("errorlint has no flag errorf: " + err.Error())
	}
	return a
}
