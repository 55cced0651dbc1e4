package main

import (
	"fmt"
	"path/filepath"

	"github.com/daemok/daemok/internal/release/archive"
)

// deployed are the files of the checkout that users apply outside the cluster or beside the charts,
// as patterns of filepath.Glob.
var deployed = []string{
	"LICENSE", "deploy/aws/README.md", "deploy/aws/cloudformation.yaml", "deploy/aws/policies/*.json", "deploy/aws/terraform/*",
	"deploy/monitoring/*.yaml", "deploy/monitoring/dashboards/*.json", "examples/*/*.yaml",
}

// deploy archives what is deployed, under the paths that the guides name, and returns the archive's name.
func (a assembly) deploy() (string, error) {
	folder := "daemok-deploy_" + a.source.Tag()
	var files []archive.File
	for _, pattern := range deployed {
		found, err := filepath.Glob(filepath.Join(a.checkout, filepath.FromSlash(pattern)))
		if err != nil {
			return "", err
		}
		if len(found) == 0 {
			return "", fmt.Errorf("no file in the checkout is %s: mend the list of what the release archives", pattern)
		}
		for _, file := range found {
			name, err := filepath.Rel(a.checkout, file)
			if err != nil {
				return "", err
			}
			files = append(files, archive.File{Path: folder + "/" + filepath.ToSlash(name), Mode: 0o644, From: file})
		}
	}
	return folder + ".tar.gz", archive.TarGz(filepath.Join(a.dist, folder+".tar.gz"), files, a.source.CommittedAt)
}
