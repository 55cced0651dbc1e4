package story

import (
	"os"
	"path/filepath"
	"testing"

	"golang.org/x/tools/txtar"
)

// What comes of a story is written into it where that is asked for, and nowhere
// else in it.
func TestUpdateWritesWhatComesOfAStory(t *testing.T) {
	path := filepath.Join(t.TempDir(), "one.txtar")
	if err := os.WriteFile(path, []byte("A sentence.\n-- before --\none\n-- after --\nold\n"), 0o600); err != nil {
		t.Fatal(err)
	}
	defer func(was bool) { *update = was }(*update)
	for _, *update = range []bool{true, false} {
		reported := false
		Each(t, filepath.Dir(path), func(t *testing.T, files []txtar.File) {
			reported = true
			Expect(t, &files[1], "new\n")
		})
		text, err := os.ReadFile(path)
		if want := "A sentence.\n-- before --\none\n-- after --\nnew\n"; err != nil || string(text) != want || !reported {
			t.Errorf("the story is %q (told: %v, error: %v), want %q", text, reported, err, want)
		}
	}
}
