package main

import (
	"bytes"
	"os"
	"path/filepath"
	"runtime"
	"testing"
)

// The pictures of the documents are what `make dashboards` draws.
func TestPicturesAreWhatIsDrawn(t *testing.T) {
	if runtime.GOARCH != "amd64" {
		t.Skip("on other processors a coordinate may be rounded otherwise")
	}
	const committed = "../../../docs/images/dashboards"
	drawn := t.TempDir()
	if err := pictures(t.Context(), "../dashboards", "../testdata/lab.txt.gz", drawn); err != nil {
		t.Fatal(err)
	}
	entries, err := os.ReadDir(drawn)
	if err != nil || len(entries) == 0 {
		t.Fatalf("%d pictures: %v", len(entries), err)
	}
	for _, e := range entries {
		want, err := os.ReadFile(filepath.Join(drawn, e.Name()))
		if err != nil {
			t.Fatal(err)
		}
		if got, err := os.ReadFile(filepath.Join(committed, e.Name())); err != nil || !bytes.Equal(got, want) {
			t.Errorf("%s in docs/images/dashboards is not what is drawn (%v): run make dashboards and commit the result", e.Name(), err)
		}
	}
	if there, err := os.ReadDir(committed); err != nil || len(there) != len(entries) {
		t.Errorf("%d pictures in the folder, want %d: %v", len(there), len(entries), err)
	}
}
