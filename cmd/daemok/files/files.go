// Package files reads the files that users name on the command line.
//
// It promises that every error names its file, that "-" is standard input, and that nothing is fetched over the
// network. It does not say what the manifests mean: kube/manifest does.
package files

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/daemok/daemok/kube/manifest"
	"github.com/daemok/daemok/kube/manifest/terraform"
)

// Read reads a file, or standard input for "-", and names it for people.
func Read(stdin io.Reader, file string) (text, name string, err error) {
	var data []byte
	if name = file; file == "-" {
		name = "standard input"
		data, err = io.ReadAll(stdin)
	} else {
		data, err = os.ReadFile(file)
	}
	return string(data), name, err
}

// Manifests reads the objects of files and folders as kubectl does, "-" for standard input. Objects that name no
// namespace are of the given one. The notes say what was left out; an error names the file.
func Manifests(stdin io.Reader, paths []string, namespace string) (objects []manifest.Object, notes []string, err error) {
	sources, err := manifests(stdin, paths)
	if err != nil || len(sources) == 0 {
		return nil, nil, err
	}
	return manifest.Read(sources, namespace)
}

// Names is Manifests of objects to delete: their kinds and names are enough.
func Names(stdin io.Reader, paths []string, namespace string) (objects []manifest.Object, notes []string, err error) {
	sources, err := manifests(stdin, paths)
	if err != nil || len(sources) == 0 {
		return nil, nil, err
	}
	return manifest.ReadNames(sources, namespace)
}

func manifests(stdin io.Reader, paths []string) ([]manifest.Source, error) {
	var sources []manifest.Source
	var names []string
	for _, path := range paths {
		files, err := Of(path)
		if err != nil {
			return nil, fmt.Errorf("read manifests: %w", err)
		}
		names = append(names, files...)
		for _, file := range files {
			text, name, err := Read(stdin, file)
			if err != nil {
				return nil, fmt.Errorf("read manifests: %w", err)
			}
			sources = append(sources, manifest.Source{Name: name, Data: []byte(text)})
		}
	}
	if len(sources) == 0 {
		return nil, nil
	}
	beside, err := Beside(names)
	if err != nil {
		return nil, fmt.Errorf("read manifests: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(beside)) {
		sources = append(sources, manifest.Source{Name: name, Data: beside[name], Beside: true})
	}
	return sources, nil
}

// Of are the files with manifests in a folder, by name; a file is itself.
func Of(path string) ([]string, error) {
	if path == "-" {
		return []string{path}, nil
	}
	if strings.Contains(path, "://") {
		return nil, fmt.Errorf("%s: nothing is fetched: fetch it yourself, and give it by -f -", path)
	}
	info, err := os.Stat(path)
	if err != nil {
		return nil, err
	}
	if !info.IsDir() {
		return []string{path}, nil
	}
	entries, err := os.ReadDir(path)
	if err != nil {
		return nil, err
	}
	var out []string
	for _, e := range entries {
		if !e.IsDir() && HasManifests(e.Name()) {
			out = append(out, filepath.Join(path, e.Name()))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("folder %s has no file that ends in .yaml, .yml, .json or .tf", path)
	}
	return out, nil
}

// HasManifests reports whether a file of a folder is one of manifests, by its name.
func HasManifests(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json", ".tf"}, filepath.Ext(name)) && !terraform.IsValues(name)
}

// Beside are the files in the folders of Terraform's files that declare what these may
// name, and are not among them.
func Beside(files []string) (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, file := range files {
		if file == "-" || !terraform.IsSource(file) {
			continue
		}
		entries, err := os.ReadDir(filepath.Dir(file))
		if err != nil {
			return nil, err
		}
		for _, e := range entries {
			name := filepath.Join(filepath.Dir(file), e.Name())
			given := slices.ContainsFunc(files, func(f string) bool { return filepath.Clean(f) == name })
			if e.IsDir() || given || !terraform.IsSource(name) && !terraform.IsValues(name) {
				continue
			}
			if out[name], err = os.ReadFile(name); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}
