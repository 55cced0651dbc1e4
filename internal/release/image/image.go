// Package image makes the container image of the controller without Docker: one static program,
// certificate authorities and an unprivileged user, for several platforms, as an OCI layout in a
// folder.
//
// It promises that the same programs at the same commit make the same digest with one version of Go.
// The image has no shell, no package manager, and nothing that its user may write; it runs with a
// read-only root file system.
package image

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/tarball"
	"github.com/google/go-containerregistry/pkg/v1/types"

	"github.com/daemok/daemok/internal/release/archive"
	"github.com/daemok/daemok/internal/release/source"
)

// Repository is where the source lies, by the name that the module has.
const Repository = "https://github.com/daemok/daemok"

// User is who the program runs as: a user and a group without rights.
const User = "65532:65532"

// program is the only executable of the image.
const program = "daemok-controller"

// Build is what the image of one platform is made of.
type Build struct {
	OS, Arch string // as Go names them: linux, arm64
	Program  string // path of the static executable
	BOM      []byte // software bill of materials, CycloneDX as JSON
	Licences []byte // texts of the licences of what is in the program
}

// Index returns the image for all platforms, in their order. Labels say which
// commit it was made from.
func Index(builds []Build, s source.Source) (v1.ImageIndex, error) {
	if len(builds) == 0 {
		return nil, errors.New("an image needs a program for one platform at least")
	}
	base, err := layer([]archive.File{
		{Path: "etc/group", Mode: 0o644, Data: []byte("root:x:0:\nnonroot:x:65532:\n")},
		{Path: "etc/passwd", Mode: 0o644, Data: []byte("root:x:0:0:root:/:/sbin/nologin\nnonroot:x:65532:65532:nonroot:/:/sbin/nologin\n")},
		{Path: "etc/ssl/certs/ca-certificates.crt", Mode: 0o644, Data: roots()},
	}, s.CommittedAt)
	if err != nil {
		return nil, err
	}
	var all []mutate.IndexAddendum
	for _, b := range builds {
		img, err := forPlatform(base, b, s)
		if err != nil {
			return nil, fmt.Errorf("make the image for %s/%s: %w", b.OS, b.Arch, err)
		}
		all = append(all, mutate.IndexAddendum{Add: img, Descriptor: v1.Descriptor{Platform: &v1.Platform{OS: b.OS, Architecture: b.Arch}}})
	}
	index := mutate.AppendManifests(empty.Index, all...)
	annotated, ok := mutate.Annotations(index, labels(s)).(v1.ImageIndex)
	if !ok {
		return nil, errors.New("an annotated index is no index")
	}
	return annotated, nil
}

// Write leaves the index as an OCI layout in a new folder, named by the tag that
// it is to have, and returns the digest that a registry will show for it.
func Write(folder string, index v1.ImageIndex, s source.Source) (v1.Hash, error) {
	path, err := layout.Write(folder, empty.Index)
	if err != nil {
		return v1.Hash{}, fmt.Errorf("write the image layout %s: %w", folder, err)
	}
	name := map[string]string{"org.opencontainers.image.ref.name": s.Tag()}
	if err := path.AppendIndex(index, layout.WithAnnotations(name)); err != nil {
		return v1.Hash{}, fmt.Errorf("write the image into %s: %w", folder, err)
	}
	return index.Digest()
}

// Size is what a node of one platform downloads.
type Size struct {
	Platform string // linux/arm64
	Digest   v1.Hash
	Bytes    int64 // compressed layers, configuration and manifest
}

// Sizes returns the size of the image for each platform, in the index's order.
func Sizes(index v1.ImageIndex) ([]Size, error) {
	manifest, err := index.IndexManifest()
	if err != nil {
		return nil, err
	}
	var sizes []Size
	for _, entry := range manifest.Manifests {
		img, err := index.Image(entry.Digest)
		if err != nil {
			return nil, err
		}
		m, err := img.Manifest()
		if err != nil {
			return nil, err
		}
		size := Size{Platform: entry.Platform.OS + "/" + entry.Platform.Architecture, Digest: entry.Digest, Bytes: entry.Size + m.Config.Size}
		for _, l := range m.Layers {
			size.Bytes += l.Size
		}
		sizes = append(sizes, size)
	}
	return sizes, nil
}

func forPlatform(base v1.Layer, b Build, s source.Source) (v1.Image, error) {
	if err := static(b.Program); err != nil {
		return nil, err
	}
	own, err := layer([]archive.File{
		{Path: program, Mode: 0o755, From: b.Program},
		{Path: "usr/share/doc/" + program + "/licences.txt", Mode: 0o644, Data: b.Licences},
		{Path: "usr/share/sbom/" + program + ".cdx.json", Mode: 0o644, Data: b.BOM},
	}, s.CommittedAt)
	if err != nil {
		return nil, err
	}
	at := v1.Time{Time: s.CommittedAt}
	img, err := mutate.ConfigFile(mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON), &v1.ConfigFile{
		OS: b.OS, Architecture: b.Arch, Created: at,
		RootFS: v1.RootFS{Type: "layers"},
		Config: v1.Config{User: User, WorkingDir: "/", Entrypoint: []string{"/" + program}, Labels: labels(s)},
	})
	if err != nil {
		return nil, err
	}
	img, err = mutate.Append(img,
		mutate.Addendum{Layer: base, History: v1.History{Created: at, CreatedBy: "make release", Comment: "certificate authorities, users"}},
		mutate.Addendum{Layer: own, History: v1.History{Created: at, CreatedBy: "make release", Comment: program + ", its licences and its bill of materials"}})
	if err != nil {
		return nil, err
	}
	annotated, ok := mutate.Annotations(img, labels(s)).(v1.Image)
	if !ok {
		return nil, errors.New("an annotated image is no image")
	}
	return annotated, nil
}

// layer packs files as the next layer of an image.
func layer(files []archive.File, at time.Time) (v1.Layer, error) {
	var packed bytes.Buffer
	if err := archive.Tar(&packed, files, at); err != nil {
		return nil, err
	}
	open := func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(packed.Bytes())), nil }
	return tarball.LayerFromOpener(open, tarball.WithMediaType(types.OCILayer), tarball.WithCompressionLevel(gzip.BestCompression), tarball.WithCompressedCaching)
}

// labels are those that image registries and scanners read.
func labels(s source.Source) map[string]string {
	return map[string]string{
		"org.opencontainers.image.title":         program,
		"org.opencontainers.image.description":   "Node autoscaler for Kubernetes on AWS",
		"org.opencontainers.image.version":       s.Version,
		"org.opencontainers.image.revision":      s.Commit,
		"org.opencontainers.image.created":       s.CommittedAt.Format(time.RFC3339),
		"org.opencontainers.image.source":        Repository,
		"org.opencontainers.image.url":           Repository,
		"org.opencontainers.image.documentation": Repository + "/tree/main/docs",
		"org.opencontainers.image.licenses":      "Apache-2.0",
	}
}
