package main

import (
	"fmt"
	"io"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/daemok/daemok/cmd/daemok/inspect"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/decide"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/kube/manifest"
	"github.com/daemok/daemok/kube/manifest/terraform"
)

// addition is what manifests changed, and the plan without them.
type addition struct {
	manifest.Outcome
	without plan.Plan
}

// add is the situation with the manifests; without any it is as it was.
func add(found inspect.Situation, policy decide.Policy, objects []manifest.Object, notes []string) (*cluster.Snapshot, *addition, error) {
	if len(objects)+len(notes) == 0 {
		return found.Snapshot, nil, nil
	}
	if found.World.ClusterState == nil {
		var err error
		if found, err = inspect.Recall(found.Snapshot); err != nil {
			return nil, nil, err
		}
	}
	outcome, err := manifest.Apply(objects, found.World)
	if err != nil {
		return nil, nil, err
	}
	outcome.Notes = append(notes, outcome.Notes...)
	return found.World.Snapshot(), &addition{outcome, planOf(found.Snapshot, policy)}, nil
}

// readManifests reads files and folders as kubectl does, "-" for standard
// input.
func readManifests(stdin io.Reader, paths []string, namespace string) (objects []manifest.Object, notes []string, err error) {
	var sources []manifest.Source
	var names []string
	for _, path := range paths {
		files, err := filesOf(path)
		if err != nil {
			return nil, nil, fmt.Errorf("read manifests: %w", err)
		}
		names = append(names, files...)
		for _, file := range files {
			text, name, err := saved(stdin, file)
			if err != nil {
				return nil, nil, fmt.Errorf("read manifests: %w", err)
			}
			sources = append(sources, manifest.Source{Name: name, Data: []byte(text)})
		}
	}
	if len(sources) == 0 {
		return nil, nil, nil
	}
	beside, err := besideThem(names)
	if err != nil {
		return nil, nil, fmt.Errorf("read manifests: %w", err)
	}
	for _, name := range slices.Sorted(maps.Keys(beside)) {
		sources = append(sources, manifest.Source{Name: name, Data: beside[name], Beside: true})
	}
	return manifest.Read(sources, namespace)
}

// filesOf are the files with manifests in a folder, by name; a file is itself.
func filesOf(path string) ([]string, error) {
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
		if !e.IsDir() && hasManifests(e.Name()) {
			out = append(out, filepath.Join(path, e.Name()))
		}
	}
	if len(out) == 0 {
		return nil, fmt.Errorf("folder %s has no file that ends in .yaml, .yml, .json or .tf", path)
	}
	return out, nil
}

// hasManifests reports whether a file of a folder is one of manifests, by its name.
func hasManifests(name string) bool {
	return slices.Contains([]string{".yaml", ".yml", ".json", ".tf"}, filepath.Ext(name)) && !terraform.IsValues(name)
}

// besideThem are the files in the folders of Terraform's files that declare what these may
// name, and are not among them.
func besideThem(files []string) (map[string][]byte, error) {
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
			if e.IsDir() || !terraform.IsSource(name) && !terraform.IsValues(name) || slices.ContainsFunc(files, func(f string) bool { return filepath.Clean(f) == name }) {
				continue
			}
			if out[name], err = os.ReadFile(name); err != nil {
				return nil, err
			}
		}
	}
	return out, nil
}

// additionJSON is what manifests changed, and the plan without them.
type additionJSON struct {
	Changes    []string    `json:"changes"`
	Notes      []string    `json:"notes"`
	Without    outcomeJSON `json:"without"`
	Difference float64     `json:"difference"` // of costAfter; positive: more expensive with the manifests
}

func additionView(with plan.Plan, a *addition) *additionJSON {
	if a == nil {
		return nil
	}
	same := func(text string) string { return text }
	return &additionJSON{each(a.Changes, same), each(a.Notes, same), outcomeView(a.without), dollars(with.CostAfter - a.without.CostAfter)}
}

// writeAddition prints what manifests changed, and what that comes to.
func writeAddition(out io.Writer, with plan.Plan, a *addition) error {
	if a == nil {
		return nil
	}
	text := "\n"
	for _, line := range a.Changes {
		text += line + "\n"
	}
	for _, line := range a.Notes {
		text += "note: " + line + "\n"
	}
	if _, err := fmt.Fprint(out, text); err != nil {
		return err
	}
	return writeTable(out, "manifests", supposition{question: "without", made: a.without}, []supposition{{question: "with", made: with}})
}
