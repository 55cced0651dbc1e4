// Program mutate measures how well tests cover the core. It makes one change to a program at a time,
// and runs the tests of that package and of the packages that import it. A mutant that no test notices
// survives: either a rule has no test, or the change makes no difference.
//
//	go run ./internal/mutate [-seed 1] [-n 80] [-from 0] [-floor 0] [-skip words] ./core/...
//
// It forces conditions to true and to false, exchanges "and" with "or", moves the boundaries of
// comparisons, drops statements, and makes functions return at once. The compiler reads the changed
// file through an overlay; the checkout is not touched. Of all mutants, the seed draws n. The program
// prints a line for each, and at the end the survivors and the share that was killed; it exits with
// status 1 if that is below the floor, in percent. A run that was interrupted continues with -from and
// the number that it printed.
package main

import (
	"bytes"
	"cmp"
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"flag"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"time"
)

// Options say which mutants are tried.
type Options struct {
	Root     string // folder of the module
	Judges   string // pattern of the packages whose tests are run
	Skip     string // expression of tests that are not run; empty for none
	Packages []string
	Seed     int
	N, From  int           // of the mutants in the order of the seed, those from From to N
	Floor    float64       // least share that must be killed, in percent
	Grace    time.Duration // tests may take this much longer than usual
}

func main() {
	o := Options{Root: ".", Grace: 30 * time.Second}
	flag.IntVar(&o.Seed, "seed", 1, "draws the sample")
	flag.IntVar(&o.N, "n", 80, "size of the sample")
	flag.IntVar(&o.From, "from", 0, "leave out the first of the sample")
	flag.Float64Var(&o.Floor, "floor", 0, "least share that must be killed, in percent")
	flag.StringVar(&o.Judges, "judges", "./core/...", "packages whose tests are run, where they depend on what is changed")
	flag.StringVar(&o.Skip, "skip", "", "expression of tests that are left out, for the time they take")
	flag.Parse()
	o.Packages = flag.Args()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	err := run(ctx, o, os.Stdout)
	stop()
	if err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

// run tries the mutants of the sample one after another.
func run(ctx context.Context, o Options, out io.Writer) error {
	mutants, packageOf, err := all(ctx, o)
	if err != nil {
		return err
	}
	suites, err := readSuites(ctx, o)
	if err != nil {
		return err
	}
	scrap, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return fmt.Errorf("make a folder for mutants: %w", err)
	}
	defer os.RemoveAll(scrap) //nolint:errcheck // what stays behind is in the folder for what may go
	r := &runner{root: o.Root, scrap: scrap, skip: o.Skip, grace: o.Grace, usual: map[string]time.Duration{}, report: out}
	count := len(mutants)
	shuffle(mutants, o.Seed)
	mutants = mutants[:min(o.N, count)]
	var t tally
	fmt.Fprintf(out, "mutate: seed=%d, %d of %d mutants\n", o.Seed, len(mutants), count)
	for i, m := range mutants {
		if i < o.From {
			continue
		}
		begun := time.Now()
		outcome, err := r.try(ctx, m, judging(suites, packageOf[m.File]))
		if errors.Is(err, context.Canceled) {
			t.report(out, 0) //nolint:errcheck // a part of the sample has no floor
			return fmt.Errorf("interrupted, go on with -from %d", i)
		} else if err != nil {
			return err
		}
		fmt.Fprintf(out, "%d/%d %s: %s (%s)\n", i+1, len(mutants), m, t.count(m, outcome), time.Since(begun).Round(time.Second/10))
	}
	return t.report(out, o.Floor)
}

// listed is what `go list` says of a package.
type listed struct {
	ImportPath, Dir string
	GoFiles, Deps   []string
}

// list asks for packages, or for the tests of packages.
func list(ctx context.Context, root string, args ...string) ([]listed, error) {
	cmd := exec.CommandContext(ctx, "go", append([]string{"list", "-json=ImportPath,Dir,GoFiles,Deps"}, args...)...)
	cmd.Dir = root
	var problem bytes.Buffer
	cmd.Stderr = &problem
	content, err := cmd.Output()
	if err != nil {
		return nil, fmt.Errorf("list packages: %w: %s", err, problem.String())
	}
	var packages []listed
	for decoder := json.NewDecoder(bytes.NewReader(content)); ; {
		var p listed
		if err := decoder.Decode(&p); errors.Is(err, io.EOF) {
			return packages, nil
		} else if err != nil {
			return nil, fmt.Errorf("read the list of packages: %w", err)
		}
		packages = append(packages, p)
	}
}

// all returns every mutant of the packages, and the import path of each file.
func all(ctx context.Context, o Options) (mutants []Mutant, packageOf map[string]string, err error) {
	packages, err := list(ctx, o.Root, o.Packages...)
	if err != nil {
		return nil, nil, err
	}
	root, err := filepath.Abs(o.Root)
	if err != nil {
		return nil, nil, fmt.Errorf("find the module: %w", err)
	}
	packageOf = map[string]string{}
	for _, p := range packages {
		for _, file := range p.GoFiles {
			name, err := filepath.Rel(root, filepath.Join(p.Dir, file))
			if err != nil {
				return nil, nil, fmt.Errorf("name a file: %w", err)
			}
			source, err := os.ReadFile(filepath.Join(p.Dir, file))
			if err != nil {
				return nil, nil, fmt.Errorf("read a file to be changed: %w", err)
			}
			found, err := Find(name, source)
			if err != nil {
				return nil, nil, err
			}
			packageOf[name] = p.ImportPath
			mutants = append(mutants, found...)
		}
	}
	if len(mutants) == 0 {
		return nil, nil, fmt.Errorf("%s: nothing to change", strings.Join(o.Packages, " "))
	}
	return mutants, packageOf, nil
}

// readSuites returns the tests of all packages that judge.
func readSuites(ctx context.Context, o Options) ([]suite, error) {
	packages, err := list(ctx, o.Root, "-test", o.Judges)
	if err != nil {
		return nil, err
	}
	var suites []suite
	for _, p := range packages {
		path, isTest := strings.CutSuffix(p.ImportPath, ".test")
		if !isTest {
			continue
		}
		s := suite{path: path, dir: p.Dir, tests: map[string]bool{}}
		for _, dependency := range p.Deps {
			name, _, _ := strings.Cut(dependency, " ") // "path [of.test]"
			s.tests[name] = true
		}
		suites = append(suites, s)
	}
	return suites, nil
}

// judging returns the suites that depend on a package: its own first, then
// those that depend on least, which are the quickest.
func judging(suites []suite, path string) []suite {
	var out []suite
	for _, s := range suites {
		if s.tests[path] {
			out = append(out, s)
		}
	}
	distance := func(s suite) int {
		if s.path == path {
			return 0
		}
		return len(s.tests)
	}
	slices.SortFunc(out, func(a, b suite) int {
		return cmp.Or(cmp.Compare(distance(a), distance(b)), strings.Compare(a.path, b.path))
	})
	return out
}

// shuffle orders mutants by chance, the same for the same seed and program.
func shuffle(mutants []Mutant, seed int) {
	rank := func(m Mutant) string {
		sum := sha256.Sum256(fmt.Appendf(nil, "%d %s", seed, m))
		return string(sum[:])
	}
	slices.SortStableFunc(mutants, func(a, b Mutant) int { return strings.Compare(rank(a), rank(b)) })
}

// tally counts outcomes.
type tally struct {
	killed    int
	survivors []Mutant
}

// count adds an outcome, and says it in words. What does not compile does not
// count.
func (t *tally) count(m Mutant, o Outcome) string {
	switch {
	case o.Broken != "":
		return "does not compile: " + o.Broken
	case o.KilledBy != "":
		t.killed++
		return "killed by " + o.KilledBy
	}
	t.survivors = append(t.survivors, m)
	return "SURVIVED"
}

// report prints the survivors and the score, and returns an error if it is
// below the floor.
func (t *tally) report(out io.Writer, floor float64) error {
	slices.SortFunc(t.survivors, func(a, b Mutant) int {
		return cmp.Or(strings.Compare(a.File, b.File), cmp.Compare(a.from, b.from), strings.Compare(a.What, b.What))
	})
	for _, m := range t.survivors {
		fmt.Fprintf(out, "%s:%d: mutant: %s\n", m.File, m.Line, m.What)
	}
	tried := t.killed + len(t.survivors)
	score := 100 * float64(t.killed) / float64(max(tried, 1))
	figures := fmt.Sprintf("rules=%d killed=%d survived=%d score=%.1f%% floor=%.0f%%", tried, t.killed, len(t.survivors), score, floor)
	if tried > 0 && score < floor {
		return fmt.Errorf("FAILED %s", figures)
	}
	fmt.Fprintf(out, "mutate: ok %s\n", figures)
	return nil
}
