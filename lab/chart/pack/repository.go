package main

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"helm.sh/helm/v4/pkg/chart/common"
	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/repo/v1"
)

// release is what charts are packaged for.
type release struct {
	version string // without v
	at      time.Time
}

// write packages every chart that is a folder of from into the new folder to, and writes its
// index.yaml, whose addresses are relative to it. It returns the names of the packages, sorted; none
// where there are no charts, and then it makes no folder.
func (r release) write(from, to string) ([]string, error) {
	folders, err := filepath.Glob(filepath.Join(from, "*", util.ChartfileName))
	if err != nil || len(folders) == 0 {
		return nil, err
	}
	index := repo.NewIndexFile()
	index.Generated = r.at
	var names []string
	for _, file := range folders { // sorted by Glob
		chart, packed, err := r.pack(filepath.Dir(file), to)
		if err != nil {
			return nil, fmt.Errorf("package the chart in %s: %w", filepath.Dir(file), err)
		}
		content, err := os.ReadFile(packed)
		if err != nil {
			return nil, err
		}
		digest, name := sha256.Sum256(content), filepath.Base(packed)
		if err := index.MustAdd(chart.Metadata, name, "", hex.EncodeToString(digest[:])); err != nil {
			return nil, fmt.Errorf("list the chart %s: %w", name, err)
		}
		for _, v := range index.Entries[chart.Name()] {
			v.Created = r.at
		}
		names = append(names, name)
	}
	return names, index.WriteFile(filepath.Join(to, "index.yaml"), 0o644)
}

// pack returns the chart of a folder and the path of its package.
func (r release) pack(folder, to string) (*chartv2.Chart, string, error) {
	chart, err := loader.LoadDir(folder)
	if err != nil {
		return nil, "", err
	}
	if err := complete(chart); err != nil {
		return nil, "", err
	}
	chart.Metadata.Version, chart.Metadata.AppVersion = r.version, r.version
	stamp(chart, r.at)
	packed, err := util.Save(chart, to)
	return chart, packed, err
}

// stamp gives all files of a chart, and of those below it, one time.
func stamp(chart *chartv2.Chart, at time.Time) {
	chart.ModTime, chart.SchemaModTime = at, at
	for _, files := range [][]*common.File{chart.Raw, chart.Templates, chart.Files} {
		for _, f := range files {
			f.ModTime = at
		}
	}
	for _, d := range chart.Dependencies() {
		stamp(d, at)
	}
}

// complete returns an error if a chart that this one needs is not in its folder.
func complete(chart *chartv2.Chart) error {
	there := map[string]bool{}
	for _, d := range chart.Dependencies() {
		there[d.Name()] = true
	}
	for _, d := range chart.Metadata.Dependencies {
		if !there[d.Name] {
			return fmt.Errorf("it depends on %s, which is not in its folder charts: put it there", d.Name)
		}
	}
	return nil
}
