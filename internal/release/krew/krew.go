// Package krew writes the manifest by which krew installs the command as a plugin of kubectl.
//
// It promises the fields and forms that krew checks, and the same bytes for the same release. It publishes nothing.
package krew

import (
	_ "embed"
	"fmt"
	"io"
	"regexp"
	"strings"
	"text/template"

	"github.com/daemok/daemok/internal/release/image"
	"github.com/daemok/daemok/internal/release/source"
)

// Archive is what krew downloads for one platform.
type Archive struct {
	OS, Arch string
	Name     string // of the file; what it holds lies in a folder of that name without .tar.gz
	SHA256   string // in lower-case hexadecimal
}

// Folder is the folder inside the archive.
func (a Archive) Folder() string { return strings.TrimSuffix(a.Name, ".tar.gz") }

//go:embed daemok.yaml.tmpl
var text string

var (
	version = regexp.MustCompile(`^v[0-9]+\.[0-9]+\.[0-9]+(-[0-9A-Za-z.-]+)?$`)
	sum     = regexp.MustCompile(`^[0-9a-f]{64}$`)
)

// Write writes the manifest of a release with these archives, in their order. The error names what krew would refuse.
func Write(out io.Writer, s source.Source, archives []Archive) error {
	if !version.MatchString(s.Version) {
		return fmt.Errorf("krew wants a semantic version with a v before it, and the release is %q", s.Version)
	}
	if len(archives) == 0 {
		return fmt.Errorf("krew wants a platform, and the release has no archive")
	}
	for _, a := range archives {
		if !sum.MatchString(a.SHA256) || a.OS == "" || a.Arch == "" || a.Folder() == a.Name {
			return fmt.Errorf("archive %s: krew wants a .tar.gz of a platform with its SHA-256", a.Name)
		}
	}
	made, err := template.New("krew").Parse(text)
	if err != nil {
		return fmt.Errorf("read the template of krew's manifest: %w", err)
	}
	return made.Execute(out, struct {
		Version, Download string
		Archives          []Archive
	}{s.Version, image.Repository + "/releases/download/" + s.Version, archives})
}
