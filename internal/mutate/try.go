package main

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// suite is the tests of one package.
type suite struct {
	path  string          // import path of the package
	dir   string          // its folder, in which its tests run
	tests map[string]bool // import paths of the packages that are compiled into the tests
}

// Outcome is what the tests said of a program.
type Outcome struct {
	Broken   string // why it does not compile
	KilledBy string // the first test that failed; empty if all passed
}

// runner runs tests of mutants.
type runner struct {
	root   string                   // folder of the module
	scrap  string                   // folder for what is compiled
	skip   string                   // expression of tests that are not run
	grace  time.Duration            // how much longer than usual tests may take at least
	usual  map[string]time.Duration // what suites take, by import path
	report io.Writer
}

// try runs the suites until one fails.
func (r *runner) try(ctx context.Context, m Mutant, suites []suite) (Outcome, error) {
	overlay, err := r.overlay(m)
	if err != nil {
		return Outcome{}, err
	}
	for _, s := range suites {
		limit, err := r.limit(ctx, s)
		if err != nil {
			return Outcome{}, err
		}
		outcome, err := r.run(ctx, s, limit, "-overlay", overlay)
		if err != nil || outcome != (Outcome{}) {
			return outcome, err
		}
	}
	return Outcome{}, nil
}

// overlay writes the changed file, and what makes the compiler read it in
// place of the original.
func (r *runner) overlay(m Mutant) (name string, err error) {
	original, err := filepath.Abs(filepath.Join(r.root, m.File))
	if err != nil {
		return "", fmt.Errorf("find the file to be changed: %w", err)
	}
	source, err := os.ReadFile(original)
	if err != nil {
		return "", fmt.Errorf("read the file to be changed: %w", err)
	}
	changed := filepath.Join(r.scrap, "mutant.go")
	if err := os.WriteFile(changed, m.Apply(source), 0o600); err != nil {
		return "", fmt.Errorf("write a mutant: %w", err)
	}
	content, err := json.Marshal(map[string]map[string]string{"Replace": {original: changed}})
	if err != nil {
		return "", fmt.Errorf("write an overlay: %w", err)
	}
	name = filepath.Join(r.scrap, "overlay.json")
	if err := os.WriteFile(name, content, 0o600); err != nil {
		return "", fmt.Errorf("write an overlay: %w", err)
	}
	return name, nil
}

// limit returns how long tests of a mutant may take before they count as a
// loop without end: several times what they take of the program as it is,
// which must pass.
func (r *runner) limit(ctx context.Context, s suite) (time.Duration, error) {
	if _, known := r.usual[s.path]; !known {
		begun := time.Now()
		outcome, err := r.run(ctx, s, time.Hour)
		switch {
		case err != nil:
			return 0, err
		case outcome != (Outcome{}):
			return 0, fmt.Errorf("tests of %s fail without a change: %s%s", s.path, outcome.Broken, outcome.KilledBy)
		}
		r.usual[s.path] = time.Since(begun)
		fmt.Fprintf(r.report, "mutate: tests of %s pass in %s\n", s.path, r.usual[s.path].Round(time.Second/10)) //nolint:errcheck // progress
	}
	return r.grace + 4*r.usual[s.path], nil
}

// run compiles the tests of a package, and runs them until the first fails.
// The limit does not bound the compiler.
func (r *runner) run(ctx context.Context, s suite, limit time.Duration, flags ...string) (Outcome, error) {
	binary := filepath.Join(r.scrap, "tests")
	build := exec.CommandContext(ctx, "go", append(append([]string{"test", "-c", "-vet=off", "-ldflags=-s -w", "-o", binary}, flags...), s.path)...)
	build.Dir = r.root
	if output, err := build.CombinedOutput(); ctx.Err() != nil {
		return Outcome{}, fmt.Errorf("compile tests: %w", ctx.Err())
	} else if err != nil {
		return Outcome{Broken: strings.TrimSpace(string(output))}, nil
	}
	limited, cancel := context.WithTimeout(ctx, limit)
	defer cancel()
	test := exec.CommandContext(limited, binary, "-test.skip="+r.skip, "-test.v=test2json") // which prints each failure at once
	test.Dir = s.dir
	printed, err := test.StdoutPipe()
	if err != nil {
		return Outcome{}, fmt.Errorf("run tests: %w", err)
	}
	if err := test.Start(); err != nil {
		return Outcome{}, fmt.Errorf("run tests: %w", err)
	}
	failed := firstFailure(printed)
	if failed != "" {
		cancel() // the others have nothing to add
	}
	err = test.Wait()
	switch {
	case failed != "":
		return Outcome{KilledBy: failed}, nil
	case ctx.Err() != nil:
		return Outcome{}, fmt.Errorf("run tests: %w", ctx.Err())
	case limited.Err() != nil:
		return Outcome{KilledBy: "tests that do not end in " + limit.Round(time.Second).String()}, nil
	case err != nil:
		return Outcome{KilledBy: "a crash: " + err.Error()}, nil
	}
	return Outcome{}, nil
}

var failure = regexp.MustCompile(`^\x16?\s*--- FAIL: (\S+)`)

// firstFailure reads what tests print up to the first that failed, and returns
// its name, or to the end.
func firstFailure(printed io.Reader) string {
	lines := bufio.NewReader(printed)
	for {
		line, err := lines.ReadString('\n')
		if m := failure.FindStringSubmatch(line); m != nil {
			return m[1]
		}
		if err != nil {
			return ""
		}
	}
}
