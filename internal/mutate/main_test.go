package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// module writes a module of two packages: rules, and what is built on them. The
// rules' own test holds a boundary, the other a function; one function has no
// test, and a loop depends on a statement.
func module(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod":         "module example.com/planted\n\ngo 1.26.0\n",
		"rules/rules.go": "package rules\n\nfunc Fits(n int) bool { return n < 3 }\n\nfunc Double(n int) int { return 2 * n }\n\nfunc Lost() bool { return true }\n",
		"rules/rules_test.go": "package rules\n\nimport \"testing\"\n\nfunc TestFits(t *testing.T) {\n\tt.Run(\"three do not\", func(t *testing.T) {\n" +
			"\t\tif !Fits(2) || Fits(3) {\n\t\t\tt.Error()\n\t\t}\n\t})\n}\n",
		"use/use.go":        "package use\n\nimport \"example.com/planted/rules\"\n\nvar Four = rules.Double(2)\n",
		"use/use_test.go":   "package use\n\nimport \"testing\"\n\nfunc TestFour(t *testing.T) {\n\tif Four != 4 {\n\t\tt.Error()\n\t}\n}\n",
		"loop/loop.go":      "package loop\n\nfunc Count() (n int) {\n\tfor n != 3 {\n\t\tn++\n\t}\n\treturn n\n}\n",
		"loop/loop_test.go": "package loop\n\nimport \"testing\"\n\nfunc TestCount(t *testing.T) {\n\tif Count() != 3 {\n\t\tpanic(\"no failure, a crash\")\n\t}\n}\n",
		"red/red.go":        "package red\n\nfunc One() int { return 1 }\n",
		"red/red_test.go":   "package red\n\nimport \"testing\"\n\nfunc TestOne(t *testing.T) { t.Error() }\n",
	} {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// ran runs the program, and returns what it prints, without times.
func ran(t *testing.T, o Options) (lines []string, err error) {
	t.Helper()
	var out bytes.Buffer
	err = run(t.Context(), o, &out)
	text := regexp.MustCompile(` (\(\S+\)|in \S+)\n`).ReplaceAllString(out.String(), "\n")
	return strings.Split(strings.TrimSpace(text), "\n"), err
}

func TestRun(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles small programs")
	}
	lines, err := ran(t, Options{Root: module(t), Judges: "./...", Packages: []string{"./rules"}, Seed: 1, N: 80, Grace: time.Minute})
	if err != nil {
		t.Fatal(err)
	}
	for _, want := range []string{
		"rules/rules.go:3: < becomes <=: n < 3: killed by TestFits/three_do_not",
		"rules/rules.go:3: Fits returns at once: killed by TestFits/three_do_not",
		"rules/rules.go:5: Double returns at once: killed by TestFour",
		"rules/rules.go:7: Lost returns at once: SURVIVED",
	} {
		if !slices.ContainsFunc(lines, func(line string) bool { return strings.Contains(line, want) }) {
			t.Errorf("no line has %q:\n%s", want, strings.Join(lines, "\n"))
		}
	}
	want := []string{"rules/rules.go:7: mutant: Lost returns at once", "mutate: ok rules=4 killed=3 survived=1 score=75.0% floor=0%"}
	if got := lines[len(lines)-2:]; !slices.Equal(got, want) {
		t.Errorf("the report is %q, want %q", got, want)
	}
}

func TestFloor(t *testing.T) {
	tests := map[string]struct {
		killed, survived int
		floor            float64
		want             string // in the error
	}{
		"above":           {3, 1, 70, ""},
		"just there":      {3, 1, 75, ""},
		"below":           {3, 1, 76, "FAILED rules=4 killed=3 survived=1 score=75.0% floor=76%"},
		"nothing counted": {0, 0, 75, ""},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got := tally{killed: tt.killed}
			for range tt.survived {
				got.count(Mutant{}, Outcome{})
			}
			if err := got.report(io.Discard, tt.floor); (err == nil) != (tt.want == "") || err != nil && err.Error() != tt.want {
				t.Errorf("report(%v) with %d killed and %d survivors = %v, want %q", tt.floor, tt.killed, tt.survived, err, tt.want)
			}
		})
	}
}

// What does not end, and what crashes, is noticed.
func TestRunLoops(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles small programs")
	}
	lines, err := ran(t, Options{Root: module(t), Judges: "./...", Packages: []string{"./loop"}, Seed: 1, N: 80, Grace: 2 * time.Second})
	if err != nil {
		t.Fatal(err)
	}
	text := strings.Join(lines, "\n")
	for _, want := range []string{"dropped: n++: killed by tests that do not end", "Count returns at once: killed by TestCount"} {
		if !strings.Contains(text, want) {
			t.Errorf("no line has %q:\n%s", want, text)
		}
	}
}

func TestRunNeedsTestsThatPass(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles small programs")
	}
	o := Options{Root: module(t), Judges: "./...", Packages: []string{"./red"}, N: 80, Grace: time.Minute}
	_, err := ran(t, o)
	if err == nil || !strings.Contains(err.Error(), "tests of example.com/planted/red fail without a change: TestOne") {
		t.Errorf("with a test that fails: %v, want an error that names it", err)
	}

	o.Skip = "One"
	if lines, err := ran(t, o); err != nil || !slices.Contains(lines, "mutate: ok rules=1 killed=0 survived=1 score=0.0% floor=0%") {
		t.Errorf("without that test: %v, %q, want one survivor", err, lines)
	}
}

// The sample depends on the seed, and on nothing else.
func TestSamples(t *testing.T) {
	var mutants []Mutant
	for i := range 50 {
		mutants = append(mutants, Mutant{File: "a.go", Line: i, What: "dropped: f()"})
	}
	order := func(seed int) string {
		list := slices.Clone(mutants)
		shuffle(list, seed)
		return fmt.Sprint(list)
	}
	if order(1) != order(1) || order(1) == order(2) {
		t.Error("the order of mutants does not depend on the seed, or not on it alone")
	}
}

func TestInterruptedRunsSayWhereToGoOn(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles small programs")
	}
	ctx, cancel := context.WithCancel(t.Context())
	var out stopper
	out.after, out.stop = "1/4 ", cancel
	err := run(ctx, Options{Root: module(t), Judges: "./...", Packages: []string{"./rules"}, Seed: 1, N: 80, Grace: time.Minute}, &out)
	if err == nil || err.Error() != "interrupted, go on with -from 1" {
		t.Errorf("interrupted after the first of four mutants: %v, want where to go on, after\n%s", err, out.String())
	}
}

// stopper interrupts a run when it has printed a text.
type stopper struct {
	bytes.Buffer
	after string
	stop  context.CancelFunc
}

func (s *stopper) Write(p []byte) (int, error) {
	if bytes.HasPrefix(p, []byte(s.after)) {
		s.stop()
	}
	return s.Buffer.Write(p)
}
