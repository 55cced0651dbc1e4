package main

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// planted writes a module with one rule and one story about it.
func planted(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	for name, content := range map[string]string{
		"go.mod": "module example.com/planted\n\ngo 1.26.0\n",
		"a.go":   "package planted\n\nfunc fits(n int) bool { return n < 3 }\n\nfunc seen() bool { return true }\n",
		"a_test.go": "package planted\n\nimport \"testing\"\n\nfunc TestStories(t *testing.T) {\n\tt.Run(\"four-do-not-fit\", func(t *testing.T) {\n" +
			"\t\tif fits(4) {\n\t\t\tt.Error()\n\t\t}\n\t})\n}\n",
	} {
		if err := os.WriteFile(filepath.Join(dir, name), []byte(content), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func TestTry(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles small programs")
	}
	dir := planted(t)
	tests := map[string]struct {
		rule Rule
		want string
	}{
		"a rule that a story needs":         {off("", "a.go", "n < 3", "true"), "noticed by four-do-not-fit"},
		"nothing switched off":              {Rule{}, "SURVIVED"},
		"a rule that no story needs":        {off("", "a.go", "return true", "return false"), "SURVIVED"},
		"a rule that is not there any more": {off("", "a.go", "n < 5", "true"), `"n < 5" is there 0 times`},
		"a rule that is there twice":        {off("", "a.go", "return", "panic(1)"), "is there 2 times"},
		"a change that makes no program":    {off("", "a.go", "n < 3", "n"), "does not compile: "},
		"a rule that is kept twice":         {off("", "a.go", "n < 3", "n < 5").and("a.go", "return true", "return false"), "noticed by"},
		"a rule without which it dies":      {off("", "a.go", "n < 3", "[]bool{}[n]"), "noticed by"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := Try(dir, tt.rule, ".", "TestStories").String(); !strings.Contains(got, tt.want) {
				t.Errorf("Try(%+v) = %s, want %q in it", tt.rule.Edits, got, tt.want)
			}
		})
	}
}

// A run that does not end tells nothing by itself: the host may be slow.
func TestRunsThatDoNotEnd(t *testing.T) {
	if testing.Short() {
		t.Skip("compiles small programs")
	}
	dir := planted(t)
	endless := off("", "a.go", "return n < 3", "for {\n\t}")
	got := try(dir, endless, ".", "TestStories", time.Second)
	if !got.TimedOut || got.OK() || !strings.HasPrefix(got.String(), "TIMED OUT: ") {
		t.Errorf("without a rule that ends the run, and not knowing what is usual: %+v (%s), want a run that timed out and does not count", got, got)
	}
	usual := Usual{Root: dir}
	d, err := usual.Of(".", "TestStories")
	if err != nil || d <= 0 {
		t.Fatalf("what the stories take with the rule: %s, %v, want a time", d, err)
	}
	if _, err := usual.Of(".", "TestNothing("); err == nil {
		t.Error("tests that cannot be run are said to take some time")
	}

	got.Usual = storyTimeout / 8
	if !got.OK() || !strings.HasPrefix(got.String(), "noticed: ") {
		t.Errorf("of stories that take %s, %s: want that it counts", got.Usual, got)
	}
	got.Usual = storyTimeout/8 + 1
	if got.OK() || !strings.HasPrefix(got.String(), "TIMED OUT: ") {
		t.Errorf("of stories that take %s, %s: want that it does not count", got.Usual, got)
	}
}

// The names of stories say what is wrong; where code moves, the table must
// follow, and that is noticed here rather than when mutants are run.
func TestEveryRuleIsWhereTheTableSays(t *testing.T) {
	seen := map[string]bool{}
	for _, r := range Rules() {
		if _, err := r.Patch("../.."); err != nil {
			t.Error(err)
		}
		if seen[r.Name] {
			t.Errorf("two rules are named %q", r.Name)
		}
		seen[r.Name] = true
	}
}
