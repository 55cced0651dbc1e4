package main

import (
	"crypto/sha256"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
)

// sums is the file that "sha256sum -c" reads.
const sums = "SHA256SUMS"

// sum writes the checksums of all files below folder into it, sorted by path,
// and returns how many they are.
func sum(folder string) (int, error) {
	var out strings.Builder
	files := 0
	err := filepath.WalkDir(folder, func(path string, entry fs.DirEntry, err error) error {
		if err != nil || !entry.Type().IsRegular() {
			return err
		}
		name, err := filepath.Rel(folder, path)
		if err != nil || name == sums {
			return err
		}
		digest, err := digestOf(path)
		fmt.Fprintf(&out, "%x  %s\n", digest, filepath.ToSlash(name))
		files++
		return err
	})
	if err != nil {
		return 0, fmt.Errorf("sum the files of the release: %w", err)
	}
	return files, os.WriteFile(filepath.Join(folder, sums), []byte(out.String()), 0o644)
}

func digestOf(path string) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	h := sha256.New()
	_, err = io.Copy(h, f)
	return h.Sum(nil), err
}
