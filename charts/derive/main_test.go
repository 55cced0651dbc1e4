package main

import (
	"bytes"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
)

// The rights and definitions in the charts are those of the repository, and the list and table of values
// those of the chart.
func TestDerivedFilesAreUpToDate(t *testing.T) {
	files, err := derived(os.DirFS(".."))
	if err != nil {
		t.Fatal(err)
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if got, err := os.ReadFile("../" + name); err != nil || !bytes.Equal(got, files[name]) {
			t.Errorf("charts/%s is not what its source says (%v): run make generate", name, err)
		}
	}
	for _, folder := range []string{"daemok/crds", "daemok-crd/files"} {
		entries, err := os.ReadDir("../" + folder)
		if err != nil {
			t.Fatal(err)
		}
		for _, e := range entries {
			if files[folder+"/"+e.Name()] == nil {
				t.Errorf("charts/%s/%s has no source: run make generate", folder, e.Name())
			}
		}
	}
}

func TestKnown(t *testing.T) {
	got, err := known([]byte(`{"properties": {"b": {"properties": {"a": {"type": "string"}}}, "a": {"type": "object"}}}`))
	_, list, _ := strings.Cut(string(got), "\n")
	if want := "a: open\nb: closed\nb.a: open\n"; err != nil || list != want {
		t.Errorf("known = %q, %v; want %q", list, err, want)
	}
}

func TestTable(t *testing.T) {
	tests := map[string]struct {
		values string
		want   string // rows, or part of the error
	}{
		"a value and its comment":         {"# Replicas\nreplicas: 2", "| `replicas` | `2` | Replicas |\n"},
		"no default":                      {"# Level\nlogLevel: null", "| `logLevel` |  | Level |\n"},
		"a map whose keys are values":     {"a:\n  # First\n  b: x", "| `a.b` | `x` | First |\n"},
		"a map that is one value":         {"# All\na:\n  b: [1]", "| `a` | `{\"b\":[1]}` | All |\n"},
		"what stands over a group is not": {"# Of the chart.\n\n# Name\nname: \"\"", "| `name` | `\"\"` | Name |\n"},
		"two lines":                       {"# One\n# two\nname: \"\"", "| `name` | `\"\"` | One two |\n"},
		"a value without a comment":       {"# A\na: 1\nb: 2", "line 3: b has no comment"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			got, err := table([]byte(tt.values))
			_, rows, _ := strings.Cut(string(got), "|---|---|---|\n")
			if err != nil {
				rows = err.Error()
			}
			if !strings.HasPrefix(rows, tt.want) {
				t.Errorf("table(%q) has rows %q, want %q", tt.values, rows, tt.want)
			}
		})
	}
}
