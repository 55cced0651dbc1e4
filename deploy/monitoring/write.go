package monitoring

import (
	"fmt"
	"os"
	"path/filepath"

	"sigs.k8s.io/yaml"
)

// mark begins the files that are written here.
const mark = "# Written by `make generate` from deploy/monitoring/rules.go; see docs/tasks/monitoring.md.\n"

// Files are all files that are written, by their path below a folder.
func Files() (map[string][]byte, error) {
	out := map[string][]byte{}
	for _, b := range Boards() {
		text, err := b.JSON()
		if err != nil {
			return nil, fmt.Errorf("dashboard %s: %w", b.File, err)
		}
		out[filepath.Join("dashboards", b.File+".json")] = text
	}
	groups := map[string]any{"groups": Groups()}
	for name, object := range map[string]any{
		"alerts.yaml": groups,
		"prometheusrule.yaml": map[string]any{
			"apiVersion": "monitoring.coreos.com/v1", "kind": "PrometheusRule",
			"metadata": map[string]any{"name": "daemok", "labels": map[string]string{"app.kubernetes.io/name": "daemok"}},
			"spec":     groups,
		},
	} {
		text, err := yaml.Marshal(object)
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		out[name] = append([]byte(mark), text...)
	}
	return out, nil
}

// Write writes all files below a folder, and takes dashboards away that there are no more.
func Write(folder string) error {
	files, err := Files()
	if err != nil {
		return err
	}
	old, err := filepath.Glob(filepath.Join(folder, "dashboards", "*.json"))
	if err != nil {
		return err
	}
	for _, path := range old {
		if _, there := files[filepath.Join("dashboards", filepath.Base(path))]; !there {
			if err := os.Remove(path); err != nil {
				return err
			}
		}
	}
	for name, text := range files {
		path := filepath.Join(folder, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil { // documents
			return err
		}
		if err := os.WriteFile(path, text, 0o644); err != nil { // documents
			return err
		}
	}
	return nil
}
