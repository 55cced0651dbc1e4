package image

import (
	"archive/tar"
	"crypto/x509"
	"encoding/pem"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/layout"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/types"
	"github.com/google/go-containerregistry/pkg/v1/validate"

	"github.com/daemok/daemok/internal/release/source"
)

var commit = source.Source{Version: "v0.1.0", Commit: "ac35e98798aa5b088647464e54d44ac38c99c000", CommittedAt: time.Date(2026, 11, 27, 6, 41, 43, 0, time.UTC)}

// stub builds a program that says that it runs.
func stub(t *testing.T, arch string) Build {
	t.Helper()
	folder := t.TempDir()
	code, program := filepath.Join(folder, "main.go"), filepath.Join(folder, "program")
	if err := os.WriteFile(code, []byte("package main\n\nfunc main() { println(\"it runs\") }\n"), 0o644); err != nil {
		t.Fatal(err)
	}
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-o", program, code)
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH="+arch)
	if out, err := build.CombinedOutput(); err != nil {
		t.Fatalf("build a program for %s: %v\n%s", arch, err, out)
	}
	return Build{OS: "linux", Arch: arch, Program: program, BOM: []byte(`{"bomFormat":"CycloneDX"}`), Licences: []byte("MIT")}
}

// made is the image as a client that pulls it from a registry reads it.
func made(t *testing.T, builds ...Build) (v1.ImageIndex, v1.Hash) {
	t.Helper()
	index, err := Index(builds, commit)
	if err != nil {
		t.Fatal(err)
	}
	folder := filepath.Join(t.TempDir(), "image")
	digest, err := Write(folder, index, commit)
	if err != nil {
		t.Fatal(err)
	}
	written, err := layout.ImageIndexFromPath(folder)
	if err != nil {
		t.Fatal(err)
	}
	manifest, err := written.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if len(manifest.Manifests) != 1 || manifest.Manifests[0].Digest != digest || manifest.Manifests[0].Annotations["org.opencontainers.image.ref.name"] != "0.1.0" {
		t.Fatalf("the layout lists %+v; want %s alone, named 0.1.0", manifest.Manifests, digest)
	}
	read, err := written.ImageIndex(digest)
	if err != nil {
		t.Fatal(err)
	}
	return read, digest
}

func TestTheImageIsWhatRegistriesAndNodesRead(t *testing.T) {
	index, _ := made(t, stub(t, "amd64"), stub(t, "arm64"))
	if err := validate.Index(index); err != nil {
		t.Fatal(err)
	}
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	if manifest.MediaType != types.OCIImageIndex || manifest.Annotations["org.opencontainers.image.version"] != "v0.1.0" {
		t.Errorf("the index is a %s with %v", manifest.MediaType, manifest.Annotations)
	}
	var platforms []string
	for _, entry := range manifest.Manifests {
		platforms = append(platforms, entry.Platform.String())
		if entry.MediaType != types.OCIManifestSchema1 {
			t.Errorf("%s has media type %s", entry.Platform, entry.MediaType)
		}
	}
	if want := []string{"linux/amd64", "linux/arm64"}; !slices.Equal(platforms, want) {
		t.Errorf("platforms %v; want %v", platforms, want)
	}
	sizes, err := Sizes(index)
	if err != nil || len(sizes) != 2 || sizes[1].Platform != "linux/arm64" || sizes[1].Bytes < 100_000 {
		t.Errorf("sizes %+v, %v; want one for each platform", sizes, err)
	}
}

// The fields that a cluster's policies check.
func TestTheImageRunsWithoutRights(t *testing.T) {
	img := first(t, stub(t, "amd64"))
	file, err := img.ConfigFile()
	if err != nil {
		t.Fatal(err)
	}
	c := file.Config
	if c.User != "65532:65532" || !slices.Equal(c.Entrypoint, []string{"/daemok-controller"}) || c.WorkingDir != "/" || len(c.Cmd)+len(c.Env)+len(c.Volumes) != 0 {
		t.Errorf("configuration %+v", c)
	}
	want := map[string]string{"version": "v0.1.0", "revision": commit.Commit, "created": "2026-11-27T06:41:43Z", "source": "https://github.com/daemok/daemok"}
	for label, value := range want {
		if got := c.Labels["org.opencontainers.image."+label]; got != value {
			t.Errorf("label %s = %q; want %q", label, got, value)
		}
	}
	if !file.Created.Equal(commit.CommittedAt) || len(file.History) != 2 || !file.History[1].Created.Equal(commit.CommittedAt) {
		t.Errorf("created %v, history %+v; want the commit's time", file.Created, file.History)
	}
}

func TestTheImageHasNothingElse(t *testing.T) {
	files := unpack(t, first(t, stub(t, "amd64")))
	want := []string{
		"daemok-controller 755 0:0", "etc 755 0:0", "etc/group 644 0:0", "etc/passwd 644 0:0", "etc/ssl 755 0:0", "etc/ssl/certs 755 0:0",
		"etc/ssl/certs/ca-certificates.crt 644 0:0", "usr 755 0:0", "usr/share 755 0:0", "usr/share/doc 755 0:0", "usr/share/doc/daemok-controller 755 0:0",
		"usr/share/doc/daemok-controller/licences.txt 644 0:0", "usr/share/sbom 755 0:0", "usr/share/sbom/daemok-controller.cdx.json 644 0:0",
	}
	var got []string
	for _, f := range files {
		got = append(got, f.entry)
	}
	slices.Sort(got)
	if !slices.Equal(got, want) {
		t.Errorf("the image has\n%s\nwant\n%s", strings.Join(got, "\n"), strings.Join(want, "\n"))
	}
	for _, f := range files {
		if strings.HasPrefix(f.entry, "etc/passwd") && !strings.Contains(string(f.content), "\nnonroot:x:65532:65532:") {
			t.Errorf("/etc/passwd is %q; want the user of the image in it", f.content)
		}
		if strings.HasPrefix(f.entry, "daemok-controller") {
			runs(t, f.content)
		}
	}
}

// runs starts a program that was taken out of the image.
func runs(t *testing.T, content []byte) {
	t.Helper()
	program := filepath.Join(t.TempDir(), "unpacked")
	if err := os.WriteFile(program, content, 0o755); err != nil {
		t.Fatal(err)
	}
	if out, err := exec.Command(program).CombinedOutput(); err != nil || !strings.Contains(string(out), "it runs") {
		t.Errorf("the program of the image: %v, %q", err, out)
	}
}

// Whoever builds a release again gets the same image, wherever and whenever.
func TestTheSameProgramsMakeTheSameDigest(t *testing.T) {
	a, b := stub(t, "amd64"), stub(t, "arm64")
	_, once := made(t, a, b)
	later := time.Date(2030, 1, 1, 0, 0, 0, 0, time.UTC)
	moved := filepath.Join(t.TempDir(), "elsewhere")
	if err := errors.Join(os.Rename(a.Program, moved), os.Chtimes(moved, later, later), os.Chmod(moved, 0o700)); err != nil {
		t.Fatal(err)
	}
	a.Program = moved
	if _, twice := made(t, a, b); twice != once {
		t.Errorf("built twice: %s and %s", once, twice)
	}
	a.BOM = []byte("{}")
	if _, other := made(t, a, b); other == once {
		t.Errorf("another bill of materials has the same digest %s", other)
	}
}

func TestIndexRefuses(t *testing.T) {
	script := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(script, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	shell, err := exec.LookPath("bash")
	if err != nil {
		t.Skip("no dynamically linked program here: ", err)
	}
	tests := map[string]struct {
		builds []Build
		want   string
	}{
		"nothing":                       {nil, "one platform"},
		"a program that needs a loader": {[]Build{{OS: "linux", Arch: "amd64", Program: shell}}, "CGO_ENABLED=0"},
		"what is no program":            {[]Build{{OS: "linux", Arch: "amd64", Program: script}}, script},
		"a program that is missing":     {[]Build{{OS: "linux", Arch: "arm64", Program: "none"}}, "linux/arm64"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if _, err := Index(tt.builds, commit); err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Errorf("error %v; want one with %q", err, tt.want)
			}
		})
	}
}

// The controller speaks to AWS, whose servers have certificates of these.
func TestRootsAreTrustedBySystems(t *testing.T) {
	names := map[string]bool{}
	for rest := roots(); ; {
		var block *pem.Block
		if block, rest = pem.Decode(rest); block == nil {
			break
		}
		c, err := x509.ParseCertificate(block.Bytes)
		if err != nil {
			t.Fatal(err)
		}
		names[c.Subject.CommonName] = true
	}
	for _, name := range []string{"Amazon Root CA 1", "Amazon Root CA 2", "Amazon Root CA 3", "Amazon Root CA 4", "ISRG Root X1"} {
		if !names[name] {
			t.Errorf("%s is not among %d roots", name, len(names))
		}
	}
	if pool := x509.NewCertPool(); !pool.AppendCertsFromPEM(roots()) {
		t.Error("no system can read the roots")
	}
}

func first(t *testing.T, b Build) v1.Image {
	t.Helper()
	index, _ := made(t, b)
	manifest, err := index.IndexManifest()
	if err != nil {
		t.Fatal(err)
	}
	img, err := index.Image(manifest.Manifests[0].Digest)
	if err != nil {
		t.Fatal(err)
	}
	return img
}

type unpacked struct {
	entry   string // path, permissions, owner
	content []byte
}

func unpack(t *testing.T, img v1.Image) []unpacked {
	t.Helper()
	content := mutate.Extract(img)
	defer content.Close()
	var files []unpacked
	for in := tar.NewReader(content); ; {
		h, err := in.Next()
		if errors.Is(err, io.EOF) {
			return files
		}
		if err != nil {
			t.Fatal(err)
		}
		data, err := io.ReadAll(in)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, unpacked{fmt.Sprintf("%s %o %d:%d", h.Name, h.Mode, h.Uid, h.Gid), data})
	}
}
