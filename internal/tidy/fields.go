package tidy

import (
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"strings"

	"sigs.k8s.io/yaml"
)

// schema is the part of an OpenAPI schema that names fields.
type schema struct {
	Properties map[string]schema `json:"properties"`
}

// CheckFields reports fields of a resource that the status page does not
// name as `spec.field`: users must find out there whether a field acts.
// Fields named in open are looked into; of others the field itself counts.
func CheckFields(root fs.FS, crd, status string, open ...string) ([]Violation, error) {
	page, err := fs.ReadFile(root, status)
	if err != nil {
		return nil, fmt.Errorf("read the status page: %w", err)
	}
	fields, err := readSchema(root, crd)
	if err != nil {
		return nil, err
	}
	var found []Violation
	var walk func(path string, s schema)
	walk = func(path string, s schema) {
		for _, name := range slices.Sorted(maps.Keys(s.Properties)) {
			field := path + "." + name
			if slices.Contains(open, field) {
				walk(field, s.Properties[name])
				continue
			}
			if !strings.Contains(string(page), "`"+field+"`") {
				found = append(found, Violation{status, "does not name `" + field + "` of " + crd, "users read there whether a field acts"})
			}
		}
	}
	walk("spec", fields.Properties["spec"])
	return found, nil
}

// readSchema returns the schema of the first version.
func readSchema(root fs.FS, crd string) (schema, error) {
	content, err := fs.ReadFile(root, crd)
	if err != nil {
		return schema{}, fmt.Errorf("read the fields of a resource: %w", err)
	}
	var definition struct {
		Spec struct {
			Versions []struct {
				Schema struct {
					OpenAPIV3Schema schema `json:"openAPIV3Schema"`
				} `json:"schema"`
			} `json:"versions"`
		} `json:"spec"`
	}
	if err := yaml.Unmarshal(content, &definition); err != nil {
		return schema{}, fmt.Errorf("read the fields of %s: %w", crd, err)
	}
	if len(definition.Spec.Versions) == 0 {
		return schema{}, fmt.Errorf("%s has no version", crd)
	}
	return definition.Spec.Versions[0].Schema.OpenAPIV3Schema, nil
}
