package main

import (
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"

	"github.com/daemok/daemok/internal/release/archive"
	"github.com/daemok/daemok/internal/release/image"
	"github.com/daemok/daemok/internal/release/krew"
	"github.com/daemok/daemok/internal/release/licence"
	"github.com/daemok/daemok/internal/release/notes"
	"github.com/daemok/daemok/internal/release/sbom"
	"github.com/daemok/daemok/internal/release/source"
)

// The programs of the product, by the names of their files.
const (
	command    = "daemok"
	controller = "daemok-controller"
	lab        = "daemok-lab"
)

// assembly makes a release of the programs in dist/bin.
type assembly struct {
	checkout, dist string
	kubernetes     string
	source         source.Source
	finder         licence.Finder
	out            io.Writer
}

// built is a program, and what it is made of.
type built struct {
	sbom.Program
	path    string
	bill    []byte
	modules []licence.Module
}

// platform is what was built for one.
type platform struct {
	os, arch string
	programs map[string]built // by name
}

func (p platform) name() string { return p.os + "/" + p.arch }

// assemble writes all that a release has beside its programs, and says how
// large the image is.
func (a assembly) assemble() error {
	platforms, err := a.read()
	if err != nil {
		return err
	}
	release := notes.Release{Source: a.source, Kubernetes: a.kubernetes}
	for _, p := range platforms {
		release.Go = p.programs[command].Go
		names, err := a.archive(p)
		if err != nil {
			return err
		}
		release.Archives = append(release.Archives, names...)
		if _, ok := p.programs[lab]; !ok {
			release.NoLab = append(release.NoLab, p.name())
		}
	}
	if err := a.plugin(platforms); err != nil {
		return err
	}
	if err := a.image(platforms, &release); err != nil {
		return err
	}
	if release.Charts, err = a.charts(); err != nil {
		return err
	}
	if err := a.definitions(); err != nil {
		return err
	}
	if release.Deploy, err = a.deploy(); err != nil {
		return err
	}
	if err := a.notes(release); err != nil {
		return err
	}
	files, err := sum(a.dist)
	if err != nil {
		return err
	}
	if a.source.Changed {
		fmt.Fprintln(a.out, "release: the checkout is changed: commit before you publish what was made")
	}
	fmt.Fprintf(a.out, "release: ok version=%s files=%d image=%s\n", a.source.Version, files, release.Digest)
	return nil
}

// read finds the programs and writes their bills of materials.
func (a assembly) read() ([]platform, error) {
	folders, err := filepath.Glob(filepath.Join(a.dist, "bin", "*_*"))
	if err != nil {
		return nil, err
	}
	if len(folders) == 0 {
		return nil, fmt.Errorf("no programs in %s/bin: make release builds them", a.dist)
	}
	if err := os.MkdirAll(filepath.Join(a.dist, "sbom"), 0o755); err != nil {
		return nil, err
	}
	var all []platform
	for _, folder := range folders {
		var p platform
		p.os, p.arch, _ = strings.Cut(filepath.Base(folder), "_")
		p.programs = map[string]built{}
		for _, name := range []string{command, controller, lab} {
			b, err := a.readProgram(filepath.Join(folder, name), p)
			if errors.Is(err, os.ErrNotExist) && name == lab {
				continue // some platforms have none
			}
			if err != nil {
				return nil, err
			}
			p.programs[name] = b
		}
		all = append(all, p)
	}
	return all, nil
}

func (a assembly) readProgram(path string, p platform) (built, error) {
	read, err := sbom.Read(path, a.source.Version)
	if err != nil {
		return built{}, err
	}
	if read.OS != p.os || read.Arch != p.arch {
		return built{}, fmt.Errorf("%s is a program for %s/%s", path, read.OS, read.Arch)
	}
	modules, err := sbom.Licences(read, a.finder)
	if err != nil {
		return built{}, err
	}
	bill, err := sbom.Bill(read, modules, a.source)
	if err != nil {
		return built{}, err
	}
	name := fmt.Sprintf("%s_%s_%s.cdx.json", read.Name, p.os, p.arch)
	return built{read, path, bill, modules}, os.WriteFile(filepath.Join(a.dist, "sbom", name), bill, 0o644)
}

// archive writes what users of one platform download: the command by itself,
// and with the controller and the lab, which is what the demo needs.
func (a assembly) archive(p platform) ([]string, error) {
	contents := []struct{ name, programs string }{{command, command}, {lab, command + " " + controller + " " + lab}}
	var names []string
	for _, c := range contents {
		if _, ok := p.programs[c.name]; !ok {
			continue
		}
		folder := a.archiveOf(c.name, p)
		files := []archive.File{{Path: folder + "/LICENSE", Mode: 0o644, From: filepath.Join(a.checkout, "LICENSE")}}
		var modules []licence.Module
		for _, name := range strings.Fields(c.programs) {
			files = append(files, archive.File{Path: folder + "/" + name, Mode: 0o755, From: p.programs[name].path})
			modules = append(modules, p.programs[name].modules...)
		}
		pages, err := filepath.Glob(filepath.Join(a.dist, "man", "man1", "*.1"))
		if err != nil {
			return nil, err
		}
		for _, page := range pages {
			files = append(files, archive.File{Path: folder + "/man/man1/" + filepath.Base(page), Mode: 0o644, From: page})
		}
		files = append(files, archive.File{Path: folder + "/licences.txt", Mode: 0o644, Data: []byte(licence.Texts(modules))})
		if err := archive.TarGz(filepath.Join(a.dist, folder+".tar.gz"), files, a.source.CommittedAt); err != nil {
			return nil, err
		}
		names = append(names, folder+".tar.gz")
	}
	return names, nil
}

// archiveOf is the name of an archive, and of the folder in it.
func (a assembly) archiveOf(name string, p platform) string {
	return fmt.Sprintf("%s_%s_%s_%s", name, a.source.Tag(), p.os, p.arch)
}

// plugin writes the manifest by which krew installs the command as a plugin of kubectl.
func (a assembly) plugin(platforms []platform) error {
	var archives []krew.Archive
	for _, p := range platforms {
		name := a.archiveOf(command, p) + ".tar.gz"
		digest, err := digestOf(filepath.Join(a.dist, name))
		if err != nil {
			return fmt.Errorf("sum an archive for krew: %w", err)
		}
		archives = append(archives, krew.Archive{OS: p.os, Arch: p.arch, Name: name, SHA256: hex.EncodeToString(digest)})
	}
	if err := os.MkdirAll(filepath.Join(a.dist, "krew"), 0o755); err != nil {
		return err
	}
	f, err := os.Create(filepath.Join(a.dist, "krew", "daemok.yaml"))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := krew.Write(f, a.source, archives); err != nil {
		return err
	}
	return f.Close()
}

// image writes the image of the controller for all platforms that are Linux.
func (a assembly) image(platforms []platform, release *notes.Release) error {
	var builds []image.Build
	for _, p := range platforms {
		if b := p.programs[controller]; p.os == "linux" {
			builds = append(builds, image.Build{OS: p.os, Arch: p.arch, Program: b.path, BOM: b.bill, Licences: []byte(licence.Texts(b.modules))})
		}
	}
	if len(builds) == 0 {
		fmt.Fprintln(a.out, "release: no image, since no platform is Linux")
		return nil
	}
	index, err := image.Index(builds, a.source)
	if err != nil {
		return err
	}
	digest, err := image.Write(filepath.Join(a.dist, "image"), index, a.source)
	if err != nil {
		return err
	}
	release.Digest = digest.String()
	if release.Images, err = image.Sizes(index); err != nil {
		return err
	}
	for _, s := range release.Images {
		fmt.Fprintf(a.out, "release: image for %s: %.1f MB compressed, %s\n", s.Platform, float64(s.Bytes)/1e6, s.Digest)
	}
	return nil
}

// charts returns the names of the packaged charts, which must be of the release.
func (a assembly) charts() (names []string, err error) {
	files, err := filepath.Glob(filepath.Join(a.dist, "charts", "*.tgz"))
	for _, file := range files { // sorted by Glob
		name := filepath.Base(file)
		if !strings.HasSuffix(name, "-"+a.source.Tag()+".tgz") {
			return nil, fmt.Errorf("%s is of another version than %s: remove dist and make the release again", file, a.source.Tag())
		}
		names = append(names, name)
	}
	return names, err
}

// definitions writes all CustomResourceDefinitions into one file.
func (a assembly) definitions() error {
	files, err := filepath.Glob(filepath.Join(a.checkout, "kube", "api", "crds", "*.yaml"))
	if err != nil {
		return err
	}
	var all []byte
	for _, file := range files { // each begins with "---"
		content, err := os.ReadFile(file)
		if err != nil {
			return fmt.Errorf("read a CustomResourceDefinition: %w", err)
		}
		all = append(all, content...)
	}
	return os.WriteFile(filepath.Join(a.dist, "crds.yaml"), all, 0o644)
}

func (a assembly) notes(release notes.Release) error {
	f, err := os.Create(filepath.Join(a.dist, "RELEASE_NOTES.md"))
	if err != nil {
		return err
	}
	defer f.Close()
	if err := notes.Write(f, release); err != nil {
		return err
	}
	return f.Close()
}
