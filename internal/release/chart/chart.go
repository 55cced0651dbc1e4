// Package chart packages Helm charts and makes the index of a repository that
// any web server can serve.
//
// It promises that the same charts at the same commit make the same bytes.
// It does not render charts: their own tests do.
package chart

import (
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"os"
	"path/filepath"

	chartv2 "helm.sh/helm/v4/pkg/chart/v2"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/chart/v2/util"
	"helm.sh/helm/v4/pkg/repo/v1"

	"github.com/daemok/daemok/internal/release/source"
)

// Package packages every chart that is a folder of from, at the release's
// version, into the new folder to, and writes its index.yaml, whose addresses
// are relative to it. It returns the names of the files, sorted; none where
// there are no charts, and then it makes no folder.
func Package(from, to string, s source.Source) ([]string, error) {
	folders, err := filepath.Glob(filepath.Join(from, "*", util.ChartfileName))
	if err != nil || len(folders) == 0 {
		return nil, err
	}
	index := repo.NewIndexFile()
	index.Generated = s.CommittedAt
	var names []string
	for _, file := range folders { // sorted by Glob
		chart, packed, err := pack(filepath.Dir(file), to, s)
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
			v.Created = s.CommittedAt
		}
		names = append(names, name)
	}
	return names, index.WriteFile(filepath.Join(to, "index.yaml"), 0o644)
}

// pack returns the chart of a folder and the path of its package.
func pack(folder, to string, s source.Source) (*chartv2.Chart, string, error) {
	chart, err := loader.LoadDir(folder)
	if err != nil {
		return nil, "", err
	}
	if err := complete(chart); err != nil {
		return nil, "", err
	}
	chart.Metadata.Version, chart.Metadata.AppVersion = s.Tag(), s.Tag()
	chart.StampModTimes(s.CommittedAt)
	packed, err := util.Save(chart, to)
	return chart, packed, err
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
