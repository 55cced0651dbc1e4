// Package sbom makes the software bill of materials of a program, in CycloneDX's format, from what
// Go's linker wrote into it.
//
// It promises to list what was linked and nothing else, in an order of its own, so that the same
// program has the same bill. It does not guess which module depends on which: programs do not say.
package sbom

import (
	"crypto/sha256"
	"debug/buildinfo"
	"encoding/hex"
	"fmt"
	"io"
	"os"
	"path"
	"runtime/debug"
	"strings"

	"github.com/daemok/daemok/internal/release/licence"
)

// Program is what an executable says of itself.
type Program struct {
	Name     string // daemok-controller
	Package  string // import path of its main package
	OS, Arch string // as Go names them
	Go       string // toolchain, such as v1.26.8
	SHA256   string // of the file, in hexadecimal
	Modules  []Module
}

// Module is a module of which packages are linked.
type Module struct {
	Path, Version string
	Sum           string // "h1:" and a hash of its files, as go.sum has it; empty for the product's own
}

// Read returns what the executable says. The product's own modules, which know
// no version, are given one.
func Read(executable, version string) (Program, error) {
	info, err := buildinfo.ReadFile(executable)
	if err != nil {
		return Program{}, fmt.Errorf("read what %s is made of: %w", executable, err)
	}
	sum, err := hash(executable)
	if err != nil {
		return Program{}, err
	}
	toolchain, _, _ := strings.Cut(info.GoVersion, " ")
	p := Program{Name: path.Base(info.Path), Package: info.Path, Go: "v" + strings.TrimPrefix(toolchain, "go"), SHA256: sum}
	for _, s := range info.Settings {
		switch s.Key {
		case "GOOS":
			p.OS = s.Value
		case "GOARCH":
			p.Arch = s.Value
		}
	}
	if own(info.Main.Path) {
		p.Modules = append(p.Modules, Module{Path: info.Main.Path, Version: version})
	}
	for _, d := range info.Deps {
		p.Modules = append(p.Modules, linked(d, version))
	}
	return p, nil
}

// linked is the module that was linked in the place of the one that was asked for.
func linked(asked *debug.Module, version string) Module {
	m := asked
	if asked.Replace != nil && asked.Replace.Version != "" {
		m = asked.Replace
	}
	if own(asked.Path) {
		return Module{Path: asked.Path, Version: version}
	}
	return Module{Path: m.Path, Version: m.Version, Sum: m.Sum}
}

func own(module string) bool {
	return module == licence.Own || strings.HasPrefix(module, licence.Own+"/")
}

func hash(file string) (string, error) {
	f, err := os.Open(file)
	if err != nil {
		return "", err
	}
	defer f.Close()
	h := sha256.New()
	if _, err := io.Copy(h, f); err != nil {
		return "", fmt.Errorf("read %s: %w", file, err)
	}
	return hex.EncodeToString(h.Sum(nil)), nil
}
