// Package crds holds the CustomResourceDefinitions of Daemok's resources as
// generated from the types in kube/api, one file each.
//
// It promises that All returns every file, in the order of their names. It
// installs nothing.
package crds

import (
	"embed"
	"fmt"

	apiextensionsv1 "k8s.io/apiextensions-apiserver/pkg/apis/apiextensions/v1"
	"sigs.k8s.io/yaml"
)

// FS holds the manifests, one CustomResourceDefinition a file.
//
//go:embed *.yaml
var FS embed.FS

// All decodes every manifest, sorted by file name. The caller owns the result.
func All() ([]*apiextensionsv1.CustomResourceDefinition, error) {
	entries, err := FS.ReadDir(".")
	if err != nil {
		return nil, fmt.Errorf("list embedded CRDs: %w", err)
	}
	var all []*apiextensionsv1.CustomResourceDefinition
	for _, entry := range entries {
		data, err := FS.ReadFile(entry.Name())
		if err != nil {
			return nil, fmt.Errorf("read embedded CRD %s: %w", entry.Name(), err)
		}
		crd := new(apiextensionsv1.CustomResourceDefinition)
		if err := yaml.UnmarshalStrict(data, crd); err != nil {
			return nil, fmt.Errorf("decode embedded CRD %s: %w", entry.Name(), err)
		}
		all = append(all, crd)
	}
	return all, nil
}
