package archive

import (
	"archive/tar"
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"
)

var at = time.Date(2026, 11, 27, 6, 41, 43, 0, time.UTC)

func TestTarHasFoldersAndFilesInOrder(t *testing.T) {
	from := filepath.Join(t.TempDir(), "program")
	if err := os.WriteFile(from, []byte("elf"), 0o600); err != nil {
		t.Fatal(err)
	}
	var out bytes.Buffer
	files := []File{{Path: "program", Mode: 0o755, From: from}, {Path: "etc/ssl/roots", Mode: 0o644, Data: []byte("pem")}, {Path: "etc/passwd", Mode: 0o644}}
	if err := Tar(&out, files, at); err != nil {
		t.Fatal(err)
	}
	want := `etc/ 755 0:0 2026-11-27T06:41:43Z ""
etc/passwd 644 0:0 2026-11-27T06:41:43Z ""
etc/ssl/ 755 0:0 2026-11-27T06:41:43Z ""
etc/ssl/roots 644 0:0 2026-11-27T06:41:43Z "pem"
program 755 0:0 2026-11-27T06:41:43Z "elf"
`
	if got := list(t, &out); got != want {
		t.Errorf("the archive has\n%swant\n%s", got, want)
	}
}

// Files on the disk of the builder of a release must not show.
func TestTheSameFilesMakeTheSameBytes(t *testing.T) {
	packed := func(when time.Time, mode os.FileMode, files ...File) []byte {
		folder := t.TempDir()
		from := filepath.Join(folder, "a")
		if err := errors.Join(os.WriteFile(from, []byte("same"), mode), os.Chtimes(from, when, when)); err != nil {
			t.Fatal(err)
		}
		name := filepath.Join(folder, "a.tar.gz")
		if err := TarGz(name, append(files, File{Path: "a", Mode: 0o755, From: from}), at); err != nil {
			t.Fatal(err)
		}
		content, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		return content
	}
	b, c := File{Path: "b", Data: []byte("b")}, File{Path: "x/c", Data: []byte("c")}
	if !bytes.Equal(packed(at, 0o600, b, c), packed(at.Add(time.Hour), 0o644, c, b)) {
		t.Error("times, modes or the order of files on disk change the archive")
	}
}

func TestTarRefuses(t *testing.T) {
	tests := map[string]File{
		"a path from the root":     {Path: "/etc/passwd"},
		"a path that leads out":    {Path: "../passwd"},
		"a path with a detour":     {Path: "etc/../passwd"},
		"a file that is not there": {Path: "a", From: "testdata/none"},
	}
	for name, file := range tests {
		t.Run(name, func(t *testing.T) {
			if err := Tar(io.Discard, []File{file}, at); err == nil || !strings.Contains(err.Error(), file.Path) {
				t.Errorf("Tar of %+v: %v; want an error that names the file", file, err)
			}
		})
	}
}

func list(t *testing.T, archive io.Reader) string {
	t.Helper()
	var out strings.Builder
	for in := tar.NewReader(archive); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return out.String()
		}
		if err != nil {
			t.Fatal(err)
		}
		content, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		fmt.Fprintf(&out, "%s %o %d:%d %s %q\n", h.Name, h.Mode, h.Uid, h.Gid, h.ModTime.UTC().Format(time.RFC3339), content)
	}
}
