// Package examples holds manifests that documents refer to and that the demo applies.
//
// They are meant to be copied. ${CLUSTER_NAME} stands for the name of the cluster; Manifest
// substitutes it as envsubst would.
package examples

import (
	"embed"
	"fmt"
	"os"
)

//go:embed v1/*.yaml
var files embed.FS

// Manifest returns an example such as "v1/nodepool.yaml" with the name of the
// cluster filled in.
func Manifest(name, clusterName string) ([]byte, error) {
	content, err := files.ReadFile(name)
	if err != nil {
		return nil, fmt.Errorf("read example %s: %w", name, err)
	}
	filled := os.Expand(string(content), func(variable string) string {
		if variable == "CLUSTER_NAME" {
			return clusterName
		}
		return "${" + variable + "}"
	})
	return []byte(filled), nil
}
