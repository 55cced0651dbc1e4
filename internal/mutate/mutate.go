// Program mutate switches off each rule of the core in turn and runs the
// stories: one must turn red, or nobody would notice if the rule were lost.
//
//	go run ./internal/mutate [-run words] [-list]
//
// Sources are patched in copies that the compiler is pointed at; the checkout
// is not touched. It prints a line for each rule and ends with
// "mutate: ok rules=N", or with status 1 and the rules that no story noticed
// or whose code was not found. A run that does not end has noticed only where
// the same tests are known to end quickly while the rule is there: else the
// host may just have been slow. It finds no missing rule: that is for the list
// of scenarios.
package main

import (
	"context"
	"encoding/json"
	"flag"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"time"
)

// Rule is one way to break the core.
type Rule struct {
	Name  string // what is no longer done
	Edits []Edit
	tests string // of which package are to notice; empty for the usual ones
}

// Edit is a change of one place of one file.
type Edit struct {
	File string
	Old  string // code that stands in the file once
	New  string // what it becomes
}

// off makes the rule that one edit switches off.
func off(name, file, old, instead string) Rule {
	return Rule{Name: name, Edits: []Edit{{file, old, instead}}}
}

// by has the tests of a package notice, for a rule that no story can show.
func (r Rule) by(folder string) Rule {
	r.tests = folder
	return r
}

// and adds an edit, for a rule that is kept in several places.
func (r Rule) and(file, old, instead string) Rule {
	r.Edits = append(r.Edits, Edit{file, old, instead})
	return r
}

// Outcome is what became of a broken rule.
type Outcome struct {
	Noticed  []string      // stories that turned red
	TimedOut bool          // the run did not end in storyTimeout, and no story turned red before
	Usual    time.Duration // of a run that timed out: what the same tests take with the rule; 0 if that is not known
	Problem  string        // why nothing can be said, such as code that does not compile
}

// OK reports whether a story noticed.
func (o Outcome) OK() bool { return o.Problem == "" && (len(o.Noticed) > 0 || o.neverEnds()) }

// neverEnds reports that a run timed out, and that this is for lack of the
// rule.
func (o Outcome) neverEnds() bool { return o.TimedOut && o.Usual > 0 && o.Usual <= storyTimeout/8 }

// String prints what noticed, or what is wrong.
func (o Outcome) String() string {
	switch {
	case o.Problem != "":
		return "PROBLEM: " + o.Problem
	case o.neverEnds():
		return fmt.Sprintf("noticed: the stories do not end in %s, and take %s with the rule", storyTimeout, o.Usual)
	case o.TimedOut && o.Usual > 0:
		return fmt.Sprintf("TIMED OUT: the stories did not end in %s, but take %s with the rule too: repeat it on an idle host", storyTimeout, o.Usual)
	case o.TimedOut:
		return fmt.Sprintf("TIMED OUT: the stories did not end in %s, and what they take with the rule is not known", storyTimeout)
	case len(o.Noticed) == 0:
		return "SURVIVED: no story noticed"
	case len(o.Noticed) == 1:
		return "noticed by " + o.Noticed[0]
	}
	return fmt.Sprintf("noticed by %s and %d more", o.Noticed[0], len(o.Noticed)-1)
}

// What must notice: the stories or, where costs are what counts, the tests of
// the package.
const (
	pkg        = "./core/decide"
	stories    = "TestStories"
	choosing   = "core/decide/"
	choices    = "TestStories|TestWhichAnswerIsPreferred|TestEffortGrows"
	packing    = "core/pack/"
	disrupting = "core/disruption/"
	allTests   = "."
)

// noticedBy returns the tests that are run without the rule.
func (r Rule) noticedBy() (folder, tests string) {
	if r.tests != "" {
		return r.tests, allTests
	}
	if len(r.Edits) > 0 && strings.HasPrefix(r.Edits[0].File, packing) {
		return "./" + packing, allTests
	}
	if len(r.Edits) > 0 && strings.HasPrefix(r.Edits[0].File, choosing) {
		return pkg, choices
	}
	if len(r.Edits) > 0 && strings.HasPrefix(r.Edits[0].File, disrupting) && r.Edits[0].File != withdrawFile {
		return pkg + " ./" + disrupting, "TestStories|TestSharesCount"
	}
	return pkg, stories
}

func main() {
	words := flag.String("run", "", "only rules whose name or file matches this expression")
	list := flag.Bool("list", false, "list the rules and check that their code is there")
	flag.Parse()
	if err := run(*words, *list); err != nil {
		fmt.Fprintln(os.Stderr, "mutate:", err)
		os.Exit(1)
	}
}

func run(words string, list bool) error {
	pattern, err := regexp.Compile(words)
	if err != nil {
		return fmt.Errorf("read -run: %w", err)
	}
	usual := Usual{Root: "."}
	if !list {
		if _, err := usual.Of(pkg, stories); err != nil {
			return err
		}
	}
	count, failed := 0, 0
	for _, r := range Rules() {
		if !pattern.MatchString(r.Name) && !pattern.MatchString(r.Edits[0].File) {
			continue
		}
		count++
		var o Outcome
		if _, err := r.Patch("."); err != nil {
			o.Problem = err.Error()
		} else if !list {
			folder, tests := r.noticedBy()
			o = Try(".", r, folder, tests)
			if o.TimedOut {
				if o.Usual, err = usual.Of(folder, tests); err != nil {
					return err
				}
			}
		}
		if !list && !o.OK() || o.Problem != "" {
			failed++
		}
		fmt.Printf("%-22s %-58s %s\n", strings.TrimPrefix(r.Edits[0].File, "core/"), r.Name, o)
	}
	switch {
	case failed > 0:
		return fmt.Errorf("FAILED rules=%d failed=%d", count, failed)
	case count == 0:
		return fmt.Errorf("no rule matches %q", words)
	}
	if !list {
		fmt.Printf("mutate: ok rules=%d\n", count)
	}
	return nil
}

// Patch returns the texts of the rule's files without the rule, by name.
func (r Rule) Patch(root string) (map[string]string, error) {
	out := map[string]string{}
	for _, e := range r.Edits {
		text, known := out[e.File]
		if !known {
			content, err := os.ReadFile(filepath.Join(root, e.File))
			if err != nil {
				return nil, fmt.Errorf("read the file of a rule: %w", err)
			}
			text = string(content)
		}
		if n := strings.Count(text, e.Old); n != 1 {
			return nil, fmt.Errorf("%s: %q is there %d times, want once", e.File, e.Old, n)
		}
		out[e.File] = strings.Replace(text, e.Old, e.New, 1)
	}
	return out, nil
}

// storyTimeout bounds one run of the stories.
const storyTimeout = 5 * time.Minute

// Try runs the tests that match the pattern in a package without the rule. Of
// a run that timed out it does not know what is usual.
func Try(root string, r Rule, folder, tests string) Outcome {
	return try(root, r, folder, tests, storyTimeout)
}

func try(root string, r Rule, folder, tests string, timeout time.Duration) Outcome {
	args, remove, err := r.overlay(root)
	if err != nil {
		return Outcome{Problem: err.Error()}
	}
	defer remove()
	output, err := test(root, folder, tests, timeout, args)
	switch {
	case err == nil:
		return Outcome{}
	case strings.Contains(output, "[build failed]") || strings.Contains(output, "[setup failed]"):
		return Outcome{Problem: "does not compile: " + firstError(output)}
	}
	names := red(output)
	if len(names) > 0 {
		return Outcome{Noticed: names}
	}
	if strings.Contains(output, "panic: test timed out after ") || strings.Contains(output, "*** Test killed ") {
		return Outcome{TimedOut: true}
	}
	return Outcome{Noticed: []string{"a run that did not end well"}}
}

// test runs tests of a package, and returns what they print. The timeout is
// for each run; compiling has no bound.
func test(root, folder, tests string, timeout time.Duration, args []string) (output string, err error) {
	args = append([]string{"test", "-vet=off", "-ldflags=-s -w", "-count=1", "-timeout", timeout.String(), "-run", tests}, args...)
	cmd := exec.CommandContext(context.Background(), "go", append(args, strings.Fields(folder)...)...)
	cmd.Dir = root
	content, err := cmd.CombinedOutput()
	return string(content), err
}

// Usual knows what tests take while all rules are there. It runs them when it
// is first asked.
type Usual struct {
	Root  string // of the checkout
	known map[string]time.Duration
}

// Of returns what the longest of the packages takes. It is an error if they
// are red, or do not end.
func (u *Usual) Of(folder, tests string) (time.Duration, error) {
	key := folder + " " + tests
	if d, ok := u.known[key]; ok {
		return d, nil
	}
	output, err := test(u.Root, folder, tests, storyTimeout, nil)
	if err != nil {
		return 0, fmt.Errorf("the tests %s of %s are red while every rule is there: %s", tests, folder, strings.TrimSpace(output))
	}
	longest := time.Millisecond // what go prints is rounded
	for _, m := range packageTook.FindAllStringSubmatch(output, -1) {
		d, err := time.ParseDuration(m[1])
		if err != nil {
			return 0, fmt.Errorf("read what the tests of %s take: %w", folder, err)
		}
		longest = max(longest, d)
	}
	if u.known == nil {
		u.known = map[string]time.Duration{}
	}
	u.known[key] = longest
	return longest, nil
}

// overlay writes the patched files and what tells the compiler to read them.
func (r Rule) overlay(root string) (args []string, remove func(), err error) {
	texts, err := r.Patch(root)
	if err != nil {
		return nil, nil, err
	}
	dir, err := os.MkdirTemp("", "mutate")
	if err != nil {
		return nil, nil, fmt.Errorf("make a folder for patched files: %w", err)
	}
	remove = func() { os.RemoveAll(dir) } //nolint:errcheck // what stays behind is in the folder for what may go
	defer func() {
		if err != nil {
			remove()
		}
	}()
	replace := map[string]string{}
	for name, text := range texts {
		original, err := filepath.Abs(filepath.Join(root, name))
		if err != nil {
			return nil, nil, fmt.Errorf("find %s: %w", name, err)
		}
		replace[original] = filepath.Join(dir, fmt.Sprintf("patched%d.go", len(replace)))
		if err := os.WriteFile(replace[original], []byte(text), 0o600); err != nil {
			return nil, nil, fmt.Errorf("write a patched file: %w", err)
		}
	}
	content, err := json.Marshal(map[string]map[string]string{"Replace": replace})
	if err != nil {
		return nil, nil, fmt.Errorf("write the overlay: %w", err)
	}
	overlay := filepath.Join(dir, "overlay.json")
	if err := os.WriteFile(overlay, content, 0o600); err != nil {
		return nil, nil, fmt.Errorf("write the overlay: %w", err)
	}
	return []string{"-overlay", overlay}, remove, nil
}

var (
	redStory    = regexp.MustCompile(`(?m)^\s+--- FAIL: [^/\s]+/(\S+)`)
	redTest     = regexp.MustCompile(`(?m)^--- FAIL: (\S+)`)
	packageTook = regexp.MustCompile(`(?m)^ok\s+\S+\s+(\d\S*s)\b`)
	buildLine   = regexp.MustCompile(`(?m)^\S+\.go:\d+:\d+: .*$`)
)

// red lists the subtests that failed, or the tests where they have none.
func red(output string) []string {
	var names []string
	for _, expression := range []*regexp.Regexp{redStory, redTest} {
		for _, m := range expression.FindAllStringSubmatch(output, -1) {
			names = append(names, strings.TrimSuffix(m[1], ".txtar"))
		}
		if len(names) > 0 {
			return names
		}
	}
	return nil
}

func firstError(output string) string {
	if line := buildLine.FindString(output); line != "" {
		return line
	}
	return strings.TrimSpace(output)
}
