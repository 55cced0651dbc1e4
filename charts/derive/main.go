// Command derive writes the files of the charts that are made from other sources: the RBAC rules and
// the CustomResourceDefinitions, whose sources are elsewhere in the repository, and the list of values
// and the table in the README, whose source is the chart itself.
//
// go generate runs it in the folder of the charts. It promises to change nothing else, and to name any
// value that has no comment.
package main

import (
	"bytes"
	"fmt"
	"io/fs"
	"maps"
	"os"
	"path"
	"slices"

	"github.com/daemok/daemok/deploy"
	"github.com/daemok/daemok/kube/api/crds"
)

func main() {
	if err := write("."); err != nil {
		fmt.Fprintln(os.Stderr, "derive:", err)
		os.Exit(1)
	}
}

// write brings the derived files of the charts in folder up to date, and removes definitions that are no more.
func write(folder string) error {
	files, err := derived(os.DirFS(folder))
	if err != nil {
		return err
	}
	for _, pattern := range []string{"daemok/crds/*.yaml", "daemok-crd/files/*.yaml"} {
		old, err := fs.Glob(os.DirFS(folder), pattern)
		if err != nil {
			return err
		}
		for _, name := range old {
			if files[name] == nil {
				if err := os.Remove(path.Join(folder, name)); err != nil {
					return err
				}
			}
		}
	}
	for _, name := range slices.Sorted(maps.Keys(files)) {
		if err := os.MkdirAll(path.Dir(path.Join(folder, name)), 0o755); err != nil {
			return err
		}
		if err := os.WriteFile(path.Join(folder, name), files[name], 0o644); err != nil {
			return err
		}
	}
	return nil
}

// derived returns the files to write by name; charts is what they are made of beside the rest of the repository.
func derived(charts fs.FS) (map[string][]byte, error) {
	files := map[string][]byte{"daemok/files/rbac.yaml": deploy.RBAC, "daemok/files/rbac-surge.yaml": deploy.SurgeRBAC, "daemok/files/rbac-shadow.yaml": deploy.ShadowRBAC, "daemok/files/rbac-nominate.yaml": deploy.NominateRBAC, "daemok/files/rbac-steering.yaml": deploy.SteeringRBAC, "daemok/files/rbac-web.yaml": deploy.WebRBAC, "daemok/files/rbac-usage.yaml": deploy.UsageRBAC}
	definitions, err := fs.Glob(crds.FS, "*.yaml")
	if err != nil {
		return nil, err
	}
	for _, name := range definitions {
		content, err := crds.FS.ReadFile(name)
		if err != nil {
			return nil, fmt.Errorf("read definition %s: %w", name, err)
		}
		files["daemok/crds/"+name], files["daemok-crd/files/"+name] = content, content
	}
	schema, err := fs.ReadFile(charts, "daemok/values.schema.json")
	if err != nil {
		return nil, err
	}
	if files["daemok/files/values.yaml"], err = known(schema); err != nil {
		return nil, err
	}
	for _, chart := range []string{"daemok", "daemok-crd"} {
		if files[chart+"/README.md"], err = readme(charts, chart); err != nil {
			return nil, err
		}
	}
	return files, nil
}

// The table of values lies between these lines.
const (
	tableBegins = "<!-- values -->\n"
	tableEnds   = "<!-- end of values -->\n"
)

// readme returns the chart's README with the table of its values as values.yaml has them.
func readme(charts fs.FS, chart string) ([]byte, error) {
	text, err := fs.ReadFile(charts, chart+"/README.md")
	if err != nil {
		return nil, err
	}
	values, err := fs.ReadFile(charts, chart+"/values.yaml")
	if err != nil {
		return nil, err
	}
	before, rest, found := bytes.Cut(text, []byte(tableBegins))
	_, after, ends := bytes.Cut(rest, []byte(tableEnds))
	if !found || !ends {
		return nil, fmt.Errorf("%s/README.md: no place for the table of values: want the lines %q and %q", chart, tableBegins, tableEnds)
	}
	rows, err := table(values)
	if err != nil {
		return nil, fmt.Errorf("%s/values.yaml: %w", chart, err)
	}
	return slices.Concat(before, []byte(tableBegins), rows, []byte(tableEnds), after), nil
}
