// Package notes writes the release notes that describe a release to its users.
//
// It promises to name nothing that does not exist: it reports as missing what was not built. It does
// not list changes; git does.
package notes

import (
	_ "embed"
	"fmt"
	"io"
	"strings"
	"text/template"

	"github.com/daemok/daemok/internal/release/image"
	"github.com/daemok/daemok/internal/release/source"
)

// Release is what there is to say.
type Release struct {
	Source     source.Source
	Go         string       // toolchain, such as v1.26.8
	Kubernetes string       // version that the lab's stories ran on
	Digest     string       // of the image for all platforms, sha256:…; empty where none was made
	Images     []image.Size // of the platforms
	Charts     []string     // names of packages
	Deploy     string       // name of the archive of templates, dashboards and examples
	Archives   []string     // names of the platforms' archives
	NoLab      []string     // platforms without the lab: darwin/amd64
}

//go:embed notes.md.tmpl
var text string

// Repository is where the source lies.
func (Release) Repository() string { return image.Repository }

// Write writes the notes as Markdown.
func Write(w io.Writer, r Release) error {
	functions := template.FuncMap{
		"mb":     func(bytes int64) string { return fmt.Sprintf("%.1f MB", float64(bytes)/1e6) },
		"join":   func(words []string) string { return strings.Join(words, ", ") },
		"prefix": strings.HasPrefix,
	}
	parsed, err := template.New("notes").Funcs(functions).Option("missingkey=error").Parse(text)
	if err != nil {
		return fmt.Errorf("read the template of the notes: %w", err)
	}
	return parsed.Execute(w, r)
}
