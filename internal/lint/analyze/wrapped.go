package main

import (
	"cmp"
	"fmt"
	"go/build"
	"go/token"
	"os"

	"github.com/golangci/misspell"
	"github.com/golangci/unconvert"
	"github.com/kisielk/errcheck/errcheck"
	"github.com/mgechev/revive/lint"
	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/packages"
	"honnef.co/go/tools/unused"
)

// The linters of this file have no analyzer, or one that does not say what it found.

var errcheckAnalyzer = &analysis.Analyzer{Name: "errcheck", Doc: "find errors that are not checked", Run: runErrcheck}

func runErrcheck(pass *analysis.Pass) (any, error) {
	checker := errcheck.Checker{}
	checker.Exclusions.BlankAssignments = true
	checker.Exclusions.TypeAssertions = true
	checker.Exclusions.Symbols = append(append([]string{}, errcheck.DefaultExcludedSymbols...), errcheckOff...)
	found := checker.CheckPackage(&packages.Package{Fset: pass.Fset, Syntax: pass.Files, Types: pass.Pkg, TypesInfo: pass.TypesInfo})
	for _, unchecked := range found.Unique().UncheckedErrors {
		name := cmp.Or(unchecked.SelectorName, unchecked.FuncName, "a call")
		reportAt(pass, unchecked.Pos, fmt.Sprintf("the error of %s is not looked at", name))
	}
	return nil, nil
}

var misspellAnalyzer = &analysis.Analyzer{Name: "misspell", Doc: "find words that are often misspelt", Run: runMisspell}

func runMisspell(pass *analysis.Pass) (any, error) {
	words := misspell.New()
	for _, file := range pass.Files {
		name := pass.Fset.File(file.FileStart).Name()
		text, err := pass.ReadFile(name)
		if err != nil {
			return nil, err
		}
		_, found := words.Replace(string(text))
		for _, wrong := range found {
			reportAt(pass, token.Position{Filename: name, Line: wrong.Line, Column: wrong.Column + 1},
				fmt.Sprintf("%q is a misspelling of %q", wrong.Original, wrong.Corrected))
		}
	}
	return nil, nil
}

var reviveAnalyzer = &analysis.Analyzer{Name: "revive", Doc: "find what reviveRules are about", Run: runRevive}

// reviveConfidence is revive's own measure of how sure it is of a finding, where it sets none.
const reviveConfidence = 0.8

func runRevive(pass *analysis.Pass) (any, error) {
	// Two rules ask for types. Those of the package are all they need; those of the standard library
	// would start one go command for each of its packages.
	build.Default.GOROOT, build.Default.GOPATH = "", ""
	var rules []lint.Rule
	config := lint.Config{Confidence: reviveConfidence, Rules: lint.RulesConfig{}}
	for _, r := range reviveRules {
		if configurable, ok := r.rule.(lint.ConfigurableRule); ok {
			if err := configurable.Configure(r.arguments); err != nil {
				return nil, err
			}
		}
		rules = append(rules, r.rule)
		config.Rules[r.rule.Name()] = lint.RuleConfig{Arguments: r.arguments}
	}
	var names []string
	for _, file := range pass.Files {
		names = append(names, pass.Fset.File(file.FileStart).Name())
	}
	revive := lint.New(os.ReadFile, 0)
	failures, err := revive.Lint([][]string{names}, rules, config)
	if err != nil {
		return nil, err
	}
	for failure := range failures {
		if failure.IsInternal() {
			return nil, fmt.Errorf("revive: %s", failure.Failure)
		}
		reportAt(pass, failure.Position.Start, failure.RuleName+": "+failure.Failure)
	}
	return nil, nil
}

var unconvertAnalyzer = &analysis.Analyzer{Name: "unconvert", Doc: "find conversions that change nothing", Run: runUnconvert}

func runUnconvert(pass *analysis.Pass) (any, error) {
	for _, at := range unconvert.Run(pass) {
		reportAt(pass, at, "the value has this type already")
	}
	return nil, nil
}

var unusedAnalyzer = &analysis.Analyzer{
	Name:     "unused",
	Doc:      "find what is not used",
	Run:      runUnused,
	Requires: []*analysis.Analyzer{unused.Analyzer.Analyzer},
}

func runUnused(pass *analysis.Pass) (any, error) {
	result := pass.ResultOf[unused.Analyzer.Analyzer].(unused.Result)
	type declaration struct {
		file string
		line int
		name string
	}
	of := func(o unused.Object) declaration { return declaration{o.Position.Filename, o.Position.Line, o.Name} }
	// One declaration may be several objects: the variable of a type switch is one in each case.
	used := map[declaration]bool{}
	for _, object := range result.Used {
		used[of(object)] = true
	}
	for _, object := range result.Unused {
		if object.Kind != "type param" && !used[of(object)] {
			reportAt(pass, object.Position, fmt.Sprintf("%s %s is not used", object.Kind, object.Name))
		}
	}
	return nil, nil
}

// reportAt reports a finding whose place is known as file, line and column alone.
func reportAt(pass *analysis.Pass, at token.Position, message string) {
	for _, f := range pass.Files {
		if file := pass.Fset.File(f.FileStart); file.Name() == at.Filename {
			pass.Report(analysis.Diagnostic{Pos: file.LineStart(at.Line) + token.Pos(max(at.Column, 1)-1), Message: message})
			return
		}
	}
	panic(fmt.Sprintf("lint: %s: %s: the package has no such file", at, message))
}
