// Package story runs tests that are written as files: a starting state and the expected result. Each
// story begins with a sentence that says what must happen.
//
// It promises that with the flag -update it writes results into the stories, and that without it, it
// writes nothing. It knows nothing about the subject of the stories.
package story

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"golang.org/x/tools/txtar"
)

var update = flag.Bool("update", false, "write into stories what comes of them; read the diff then")

// Each runs every story of a folder, each as a test of its own by the name of its file.
func Each(t *testing.T, folder string, report func(t *testing.T, files []txtar.File)) {
	t.Helper()
	paths, err := filepath.Glob(filepath.Join(folder, "*.txtar"))
	if err != nil || len(paths) == 0 {
		t.Fatalf("no stories in %s: %v", folder, err)
	}
	for _, path := range paths {
		t.Run(strings.TrimSuffix(filepath.Base(path), ".txtar"), func(t *testing.T) {
			archive, err := txtar.ParseFile(path)
			if err != nil {
				t.Fatal(err)
			}
			report(t, archive.Files)
			if !*update || t.Failed() {
				return
			}
			if err := os.WriteFile(path, txtar.Format(archive), 0o644); err != nil {
				t.Fatal(err)
			}
		})
	}
}

// Shop reads the catalogue that the stories of core/decide begin with, which
// lies at path.
func Shop(t *testing.T, path string) string {
	t.Helper()
	text, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(text)
}

// Expect compares what came of a story with what a file of it says, or writes it
// there.
func Expect(t *testing.T, want *txtar.File, got string) {
	t.Helper()
	if *update {
		want.Data = []byte(got)
	}
	if got != string(want.Data) {
		t.Errorf("%s differs (run with -update, then read the diff)\n got:\n%s\nwant:\n%s", want.Name, got, want.Data)
	}
}
