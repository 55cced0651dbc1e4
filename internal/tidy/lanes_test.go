package tidy

import (
	"os"
	"strings"
	"testing"
	"testing/fstest"
)

func TestWhatRunsUnderTheRaceDetectorIsThere(t *testing.T) {
	found, err := CheckLanes(os.DirFS(root))
	none(t, found, err)
}

func TestCheckLanesNoticesATestThatIsGone(t *testing.T) {
	tests := map[string]struct{ makefile, want string }{
		"all there": {"PARTLY  := one two/three\nRACED_STORIES := TestA|TestBoth\n", ""},
		"renamed":   {"PARTLY  := one two/three\nRACED_STORIES := TestA|TestC\n", "names TestC"},
		"elsewhere": {"PARTLY := one\nRACED_STORIES := TestBoth\n", "names TestBoth"},
		"no longer": {"PARTLY := one\n", "has no RACED_STORIES"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			tree := fstest.MapFS{
				"Makefile":            {Data: []byte(tt.makefile)},
				"one/a_test.go":       {Data: []byte("package one\n\nfunc TestABird(t *testing.T) {}\n")},
				"two/three/b_test.go": {Data: []byte("package three\n\nfunc TestBothOfThem(t *testing.T) {}\n")},
			}
			found, err := CheckLanes(tree)
			if err != nil {
				t.Fatal(err)
			}
			if tt.want == "" {
				none(t, found, nil)
			} else if len(found) != 1 || !strings.Contains(found[0].String(), tt.want) {
				t.Errorf("CheckLanes = %v; want one with %q", found, tt.want)
			}
		})
	}
}
