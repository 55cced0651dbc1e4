// Package licence finds the licences of the modules in a program, in the module cache of the host that
// built it.
//
// It promises the files as their authors wrote them, and the SPDX names of the licences that most of a
// file's words match. It uses no network, and it gives no legal advice.
package licence

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"

	"github.com/google/licensecheck"
	"golang.org/x/mod/module"
)

// Finder knows the folders in which the code of modules lies.
type Finder struct {
	Cache    string // of modules, as "go env GOMODCACHE" prints it
	GoRoot   string // of the toolchain, as "go env GOROOT" prints it
	Checkout string // of this product
}

// Own is the path of this product's module; its nested modules begin with it.
const Own = "github.com/daemok/daemok"

// Standard is the path that stands for Go's standard library.
const Standard = "stdlib"

// File is one file about a licence.
type File struct {
	Name string // LICENSE
	Text string
	IDs  []string // SPDX names of the licences it is of, sorted; none where it is an interruption message, or not known
}

// words of a file that must be of licences for these to be named, in percent.
const wordsLeast = 75

// about is what files about licences are called; code may be called so too.
var about = regexp.MustCompile(`(?i)^((MIT-)?(UN)?LICEN[CS]E|COPYING|COPYRIGHT|NOTICE)([-.]\w+)?$`)

// Of returns the files about licences of a module, sorted by name. A module
// that is not in the cache has none.
func (f Finder) Of(path, version string) ([]File, error) {
	folder, err := f.folder(path, version)
	if err != nil {
		return nil, err
	}
	entries, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, fmt.Errorf("look for the licence of %s: %w", path, err)
	}
	var files []File
	for _, e := range entries {
		if !e.Type().IsRegular() || !about.MatchString(e.Name()) || filepath.Ext(e.Name()) == ".go" {
			continue
		}
		text, err := os.ReadFile(filepath.Join(folder, e.Name()))
		if err != nil {
			return nil, fmt.Errorf("read a licence of %s: %w", path, err)
		}
		files = append(files, File{e.Name(), string(bytes.ReplaceAll(text, []byte("\r\n"), []byte("\n"))), identify(text)})
	}
	return files, nil
}

// folder is where the code of a module lies.
func (f Finder) folder(path, version string) (string, error) {
	if path == Standard {
		return f.GoRoot, nil
	}
	if path == Own || strings.HasPrefix(path, Own+"/") {
		return f.Checkout, nil
	}
	escaped, err := module.EscapePath(path)
	if err != nil {
		return "", err
	}
	number, err := module.EscapeVersion(version)
	if err != nil {
		return "", err
	}
	return filepath.Join(f.Cache, filepath.FromSlash(escaped)+"@"+number), nil
}

func identify(text []byte) []string {
	found := licensecheck.Scan(text)
	if found.Percent < wordsLeast {
		return nil
	}
	var ids []string
	for _, m := range found.Match {
		if !m.IsURL {
			ids = append(ids, m.ID)
		}
	}
	slices.Sort(ids)
	return slices.Compact(ids)
}
