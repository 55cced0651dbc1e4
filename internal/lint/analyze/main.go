// Command analyze runs well-known linters, which linters.go sets up, with the exceptions of
// exceptions.go, on the package that a file from go vet describes. It writes findings and facts to
// where that file says.
package main

import (
	"encoding/gob"
	"log"
	"os"

	"golang.org/x/tools/go/analysis"

	"github.com/daemok/daemok/internal/lint/unit"
)

func main() {
	log.SetFlags(0)
	log.SetPrefix("lint: ")
	if len(os.Args) != 2 {
		log.Fatal("usage: analyze FILE, with what go vet says of a package in it")
	}
	if err := analyze(os.Args[1]); err != nil {
		log.Fatal(err)
	}
}

func analyze(file string) error {
	u, err := unit.Read(file)
	if err != nil {
		return err
	}
	wanted, err := u.Wanted()
	if err != nil {
		return err
	}
	all := everything()
	eachOf(all, func(a *analysis.Analyzer) {
		for _, fact := range a.FactTypes {
			gob.Register(fact)
		}
	})
	r, err := load(u)
	if err != nil {
		return err
	}
	if err := r.facts.read(r.pkg.Imports(), u.PackageVetx); err != nil {
		return err
	}
	switch wanted {
	case unit.Findings:
		err = r.all(all)
	case unit.Facts:
		err = r.all(withFacts(all))
	case unit.Directives:
		err = r.all(directives)
	case unit.Nothing:
	}
	if err != nil {
		return err
	}
	if err := r.facts.write(r.pkg, u.VetxOutput); err != nil {
		return err
	}
	return r.writeFindings(u.ID, u.Stdout)
}

// withFacts returns those that leave facts for packages that import this one, whether they are run for themselves or for others.
func withFacts(all []*analysis.Analyzer) []*analysis.Analyzer {
	var found []*analysis.Analyzer
	eachOf(all, func(a *analysis.Analyzer) {
		if len(a.FactTypes) > 0 {
			found = append(found, a)
		}
	})
	return found
}

// eachOf calls f once for each analyzer and each that one of them is built on.
func eachOf(all []*analysis.Analyzer, f func(*analysis.Analyzer)) {
	seen := map[*analysis.Analyzer]bool{}
	var visit func([]*analysis.Analyzer)
	visit = func(some []*analysis.Analyzer) {
		for _, a := range some {
			if !seen[a] {
				seen[a] = true
				f(a)
				visit(a.Requires)
			}
		}
	}
	visit(all)
}
