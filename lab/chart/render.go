// Package chart renders the project's Helm charts as Helm does.
//
// It promises the objects that helm install would create, in Helm's order, and Helm's own errors for
// values that a chart refuses. It creates none of them and reaches no cluster.
package chart

import (
	"cmp"
	"fmt"
	"io/fs"
	"strings"

	helmchart "helm.sh/helm/v4/pkg/chart/v2"

	"helm.sh/helm/v4/pkg/chart/common"
	"helm.sh/helm/v4/pkg/chart/common/util"
	"helm.sh/helm/v4/pkg/chart/loader/archive"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/engine"
	releaseutil "helm.sh/helm/v4/pkg/release/v1/util"
	"k8s.io/apimachinery/pkg/apis/meta/v1/unstructured"
	"sigs.k8s.io/yaml"

	"github.com/daemok/daemok/charts"
)

// Names of the charts.
const (
	Daemok     = "daemok"     // the controller
	DaemokCRDs = "daemok-crd" // its CustomResourceDefinitions
)

// Kubernetes is the version that charts are rendered for.
const Kubernetes = "v1.36.0"

// Options are what helm install receives beside the chart.
type Options struct {
	Release     string         // name of the release
	Namespace   string         // its namespace
	Values      map[string]any // those of the user, over the chart's own
	APIVersions []string       // served by the cluster beside Kubernetes' own, such as monitoring.coreos.com/v1
	Kubernetes  string         // version of the cluster; Kubernetes if empty
}

// Rendered is what a chart comes to.
type Rendered struct {
	Objects []*unstructured.Unstructured // in the order in which Helm creates them; those of crds/ are not among them
	Text    string                       // the same as Helm prints it
	Notes   string                       // what Helm prints to the user after it
}

// Load reads a chart of this repository by its name.
func Load(name string) (*helmchart.Chart, error) {
	folder, err := fs.Sub(charts.FS, name)
	if err != nil {
		return nil, err
	}
	var files []*archive.BufferedFile
	err = fs.WalkDir(folder, ".", func(path string, entry fs.DirEntry, err error) error {
		if err != nil || entry.IsDir() {
			return err
		}
		content, err := fs.ReadFile(folder, path)
		files = append(files, &archive.BufferedFile{Name: path, Data: content})
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read chart %s: %w", name, err)
	}
	c, err := loader.LoadFiles(files)
	if err != nil {
		return nil, fmt.Errorf("load chart %s: %w", name, err)
	}
	return c, nil
}

// Render renders a chart. The error is Helm's where the chart refuses the values.
func Render(c *helmchart.Chart, o Options) (Rendered, error) {
	capabilities := common.DefaultCapabilities.Copy()
	version, err := common.ParseKubeVersion(cmp.Or(o.Kubernetes, Kubernetes))
	if err != nil {
		return Rendered{}, err
	}
	capabilities.KubeVersion = *version
	capabilities.APIVersions = append(capabilities.APIVersions[:len(capabilities.APIVersions):len(capabilities.APIVersions)], o.APIVersions...)
	values, err := util.ToRenderValues(c, o.Values, common.ReleaseOptions{Name: o.Release, Namespace: o.Namespace, Revision: 1, IsInstall: true}, capabilities)
	if err != nil {
		return Rendered{}, err
	}
	files, err := engine.Render(c, values)
	if err != nil {
		return Rendered{}, err
	}
	notes := c.Name() + "/templates/NOTES.txt"
	out := Rendered{Notes: files[notes]}
	delete(files, notes)
	_, manifests, err := releaseutil.SortManifests(files, nil, releaseutil.InstallOrder)
	if err != nil {
		return Rendered{}, err
	}
	var text strings.Builder
	for _, m := range manifests {
		object := &unstructured.Unstructured{}
		if err := yaml.UnmarshalStrict([]byte(m.Content), &object.Object); err != nil {
			return Rendered{}, fmt.Errorf("read what %s comes to: %w", m.Name, err)
		}
		out.Objects = append(out.Objects, object)
		fmt.Fprintf(&text, "---\n# Source: %s\n%s\n", m.Name, m.Content)
	}
	out.Text = text.String()
	return out, nil
}
