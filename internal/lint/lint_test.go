package main

import (
	"errors"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
)

// TestEachLinterFindsItsMistake plants mistakes in a module and asks go vet. Some can only be seen by what is
// known of imported packages, others are no mistakes here.
func TestEachLinterFindsItsMistake(t *testing.T) {
	planted, err := filepath.Abs("testdata/planted")
	if err != nil {
		t.Fatal(err)
	}
	tools := t.TempDir()
	build := exec.CommandContext(t.Context(), "go", "build", "-o", tools+"/", ".", "./analyze")
	if text, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v: %v\n%s", build, err, text)
	}
	said, err := vet(t, tools, planted)
	if exit := (*exec.ExitError)(nil); !errors.As(err, &exit) {
		t.Errorf("go vet ends with %v: mistakes must fail", err)
	}
	found, other := findings(planted, said)
	if other != "" {
		t.Errorf("go vet says what is no finding:\n%s", other)
	}
	want := wanted(t, planted)
	for _, line := range slices.Sorted(maps.Keys(want)) {
		if !slices.Equal(found[line], want[line]) {
			t.Errorf("%s: found %v, want %v", line, found[line], want[line])
		}
	}
	for _, line := range slices.Sorted(maps.Keys(found)) {
		if want[line] == nil {
			t.Errorf("%s: found %v, want nothing", line, found[line])
		}
	}
	if again, _ := vet(t, tools, planted); again != said {
		t.Errorf("asked again, go vet says\n%s, want the same:\n%s", again, said)
	}
}

// vet returns what go vet prints in a folder, in the order of lines.
func vet(t *testing.T, tools, folder string) (string, error) {
	t.Helper()
	command := exec.CommandContext(t.Context(), "go", "vet", "-vettool="+filepath.Join(tools, "lint"), "./...")
	command.Dir = folder
	text, err := command.CombinedOutput()
	lines := strings.SplitAfter(string(text), "\n")
	slices.Sort(lines)
	return strings.Join(lines, ""), err
}

var (
	aFinding = regexp.MustCompile(`^(\S+\.go:\d+):\d+: (govet/\w+|staticcheck/\w+|revive: [\w-]+|\w+): .`)
	aWant    = regexp.MustCompile(`// want ([\w/ -]+)$`)
)

// findings returns which rules were found broken in which line, "values.go:12", and what else was printed.
func findings(folder, text string) (found map[string][]string, other string) {
	found = map[string][]string{}
	for line := range strings.Lines(text) {
		parts := aFinding.FindStringSubmatch(strings.TrimPrefix(line, folder+"/"))
		if parts == nil {
			other += line
			continue
		}
		rule := strings.Replace(parts[2], "revive: ", "revive/", 1)
		found[parts[1]] = append(found[parts[1]], rule)
	}
	for _, rules := range found {
		slices.Sort(rules)
	}
	return found, other
}

// wanted returns what comments in the module's files ask for.
func wanted(t *testing.T, folder string) map[string][]string {
	t.Helper()
	want := map[string][]string{}
	for _, pattern := range []string{"*.go", "*/*.go", "*/*/*.go"} {
		files, err := filepath.Glob(filepath.Join(folder, pattern))
		if err != nil {
			t.Fatal(err)
		}
		for _, file := range files {
			text, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			name, err := filepath.Rel(folder, file)
			if err != nil {
				t.Fatal(err)
			}
			for number, line := range strings.Split(string(text), "\n") {
				if parts := aWant.FindStringSubmatch(line); parts != nil {
					want[name+":"+strconv.Itoa(number+1)] = strings.Fields(parts[1])
				}
			}
		}
	}
	return want
}
