// Package archive writes tar archives that are the same bytes on every host: entries sorted by name,
// owned by root, all with one time.
//
// It promises that equal files at an equal time make an equal archive with one version of Go; another
// version may compress differently. It writes no links and no devices.
package archive

import (
	"archive/tar"
	"bytes"
	"cmp"
	"compress/gzip"
	"fmt"
	"io"
	"os"
	"path"
	"slices"
	"strings"
	"time"
)

// File is one file of an archive.
type File struct {
	Path string // in the archive, slash-separated, relative: etc/passwd
	Mode int64  // permissions, such as 0o644
	Data []byte // what it holds, unless From is set
	From string // the file whose content it gets
}

// Tar writes files, and the folders that they lie in, to w. Each entry says at
// as its time.
func Tar(w io.Writer, files []File, at time.Time) error {
	sorted := slices.SortedFunc(slices.Values(files), func(a, b File) int { return cmp.Compare(a.Path, b.Path) })
	out := tar.NewWriter(w)
	made := map[string]bool{".": true}
	for _, f := range sorted {
		if f.Path != path.Clean(f.Path) || path.IsAbs(f.Path) || strings.HasPrefix(f.Path, "..") {
			return fmt.Errorf("archive %q: the path leads elsewhere or has a detour, want one like etc/passwd", f.Path)
		}
		if err := addFolders(out, path.Dir(f.Path), made, at); err != nil {
			return err
		}
		if err := add(out, f, at); err != nil {
			return fmt.Errorf("archive %s: %w", f.Path, err)
		}
	}
	return out.Close()
}

// TarGz writes the archive compressed to a new file at name.
func TarGz(name string, files []File, at time.Time) error {
	f, err := os.Create(name)
	if err != nil {
		return err
	}
	defer f.Close()
	compressed := gzip.NewWriter(f)
	if err := Tar(compressed, files, at); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	if err := compressed.Close(); err != nil {
		return fmt.Errorf("write %s: %w", name, err)
	}
	return f.Close()
}

// addFolders adds a folder and those above it that are not yet there.
func addFolders(out *tar.Writer, folder string, made map[string]bool, at time.Time) error {
	if made[folder] {
		return nil
	}
	if err := addFolders(out, path.Dir(folder), made, at); err != nil {
		return err
	}
	made[folder] = true
	return out.WriteHeader(header(tar.TypeDir, folder+"/", 0o755, 0, at))
}

func add(out *tar.Writer, f File, at time.Time) error {
	content, size, err := open(f)
	if err != nil {
		return err
	}
	defer content.Close()
	if err := out.WriteHeader(header(tar.TypeReg, f.Path, f.Mode, size, at)); err != nil {
		return err
	}
	_, err = io.Copy(out, content)
	return err
}

func open(f File) (io.ReadCloser, int64, error) {
	if f.From == "" {
		return io.NopCloser(bytes.NewReader(f.Data)), int64(len(f.Data)), nil
	}
	from, err := os.Open(f.From)
	if err != nil {
		return nil, 0, err
	}
	info, err := from.Stat()
	if err != nil {
		from.Close()
		return nil, 0, err
	}
	return from, info.Size(), nil
}

func header(kind byte, name string, mode, size int64, at time.Time) *tar.Header {
	return &tar.Header{Typeflag: kind, Name: name, Mode: mode, Size: size, ModTime: at, Format: tar.FormatPAX}
}
