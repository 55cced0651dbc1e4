package directory_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/daemok/daemok/lab/directory"
)

func at(t *testing.T, path string) directory.Directory {
	t.Helper()
	d, err := directory.At(path)
	if err != nil {
		t.Fatal(err)
	}
	return d
}

// The second to ask gets an error that names the first, and gets the directory when the
// first lets go.
func TestOneHolderAtATime(t *testing.T) {
	d := at(t, t.TempDir())
	first, err := d.Lock()
	if err != nil {
		t.Fatal(err)
	}
	_, err = d.Lock()
	held, ok := errors.AsType[*directory.HeldError](err)
	if !ok {
		t.Fatalf("second Lock = %v, want HeldError", err)
	}
	if held.PID != os.Getpid() {
		t.Errorf("holder = %d, want %d", held.PID, os.Getpid())
	}
	if pid, held, err := d.Holder(); !held || pid != os.Getpid() || err != nil {
		t.Errorf("Holder = %d, %v, %v; want this process", pid, held, err)
	}
	if err := first.Release(); err != nil {
		t.Fatal(err)
	}
	if _, held, err := d.Holder(); held || err != nil {
		t.Errorf("Holder after release = %v, %v; want nobody", held, err)
	}
	second, err := d.Lock()
	if err != nil {
		t.Fatalf("Lock after release: %v", err)
	}
	if err := second.Release(); err != nil {
		t.Error(err)
	}
}

func TestWaitReleased(t *testing.T) {
	d := at(t, t.TempDir())
	if err := d.WaitReleased(t.Context()); err != nil {
		t.Errorf("waiting for a directory that nobody ever held: %v", err)
	}
	lock, err := d.Lock()
	if err != nil {
		t.Fatal(err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := d.WaitReleased(ended); !errors.Is(err, context.Canceled) {
		t.Errorf("waiting with an ended context = %v, want context.Canceled", err)
	}
	if err := lock.Release(); err != nil {
		t.Fatal(err)
	}
	if err := d.WaitReleased(t.Context()); err != nil {
		t.Errorf("waiting for a released directory: %v", err)
	}
}

func TestSocketsFitTheirLimit(t *testing.T) {
	tests := map[string]struct {
		path   string
		inside bool
	}{
		"a short path keeps them inside": {"/srv/lab", true},
		"a long path moves them out":     {"/srv/" + strings.Repeat("deep/", 30), false},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			d := at(t, tt.path)
			for _, socket := range []string{d.EtcdSocket(), d.ControlSocket()} {
				if got := strings.HasPrefix(socket, d.Root()); got != tt.inside {
					t.Errorf("%s inside %s: %v, want %v", socket, d.Root(), got, tt.inside)
				}
				if len(socket) > 103 && os.TempDir() == "/tmp" {
					t.Errorf("%s is %d bytes long, more than a socket may have", socket, len(socket))
				}
			}
			if again := at(t, tt.path); again.ControlSocket() != d.ControlSocket() {
				t.Errorf("a second look finds another socket: %s, %s", again.ControlSocket(), d.ControlSocket())
			}
		})
	}
}

func TestFoldersAreClosedToOthers(t *testing.T) {
	d := at(t, filepath.Join(t.TempDir(), "lab"))
	if err := d.Make(); err != nil {
		t.Fatal(err)
	}
	for _, folder := range []string{d.Root(), d.Certificates(), filepath.Dir(d.EtcdSocket())} {
		info, err := os.Stat(folder)
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().Perm() != 0o700 {
			t.Errorf("%s has mode %o, want 700", folder, info.Mode().Perm())
		}
	}
}

func TestSavedIsLoaded(t *testing.T) {
	type kept struct{ Port int }
	d := at(t, t.TempDir())
	var got kept
	if found, err := d.Load("kept.json", &got); found || err != nil {
		t.Errorf("Load before Save = %v, %v; want nothing", found, err)
	}
	if err := d.Save("kept.json", kept{Port: 7}); err != nil {
		t.Fatal(err)
	}
	if found, err := d.Load("kept.json", &got); !found || err != nil || got.Port != 7 {
		t.Errorf("Load = %v, %v, %+v; want port 7", found, err, got)
	}
	entries, err := os.ReadDir(d.Root())
	if err != nil {
		t.Fatal(err)
	}
	if len(entries) != 1 {
		t.Errorf("Save left %d files, want 1: %v", len(entries), entries)
	}
}
