package sbom

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
	"testing"
	"time"

	"github.com/CycloneDX/cyclonedx-go"

	"github.com/daemok/daemok/internal/release/licence"
	"github.com/daemok/daemok/internal/release/source"
)

var commit = source.Source{Version: "v0.1.0", Commit: "ac35e98798aa5b088647464e54d44ac38c99c000", CommittedAt: time.Date(2026, 11, 27, 6, 41, 43, 0, time.UTC)}

// known is a module cache in which every module is under one licence.
type known []string

func (k known) Of(path, _ string) ([]licence.File, error) {
	if path == "example.com/unknown" {
		return nil, nil
	}
	return []licence.File{{Name: "LICENSE", Text: path, IDs: k}}, nil
}

// Programs of other platforms are read as well as one's own, without their symbols too.
func TestAProgramSaysWhatItIsMadeOf(t *testing.T) {
	stub := filepath.Join(t.TempDir(), "stub")
	build := exec.Command("go", "build", "-trimpath", "-buildvcs=false", "-ldflags", "-s -w", "-o", stub, "./testdata/stub")
	build.Env = append(os.Environ(), "CGO_ENABLED=0", "GOOS=linux", "GOARCH=arm64")
	if said, err := build.CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, said)
	}
	p, err := Read(stub, "v0.1.0")
	if err != nil {
		t.Fatal(err)
	}
	if p.Name != "stub" || p.OS != "linux" || p.Arch != "arm64" || !strings.HasPrefix(p.Go, "v1.") || !regexp.MustCompile(`^[0-9a-f]{64}$`).MatchString(p.SHA256) {
		t.Errorf("read %+v", p)
	}
	if len(p.Modules) != 2 || p.Modules[0] != (Module{Path: "github.com/daemok/daemok/internal/release", Version: "v0.1.0"}) {
		t.Fatalf("it is made of %+v; want this module, at the version that was given, and one other", p.Modules)
	}
	if m := p.Modules[1]; m.Path != "golang.org/x/mod" || !strings.HasPrefix(m.Version, "v0.") || !strings.HasPrefix(m.Sum, "h1:") {
		t.Errorf("the other is %+v; want golang.org/x/mod with version and sum", m)
	}
}

func TestAModuleInThePlaceOfAnother(t *testing.T) {
	tests := map[string]struct {
		asked debug.Module
		want  Module
	}{
		"as asked for":              {debug.Module{Path: "example.com/a", Version: "v1.0.0", Sum: "h1:a"}, Module{"example.com/a", "v1.0.0", "h1:a"}},
		"a fork":                    {debug.Module{Path: "example.com/a", Version: "v1.0.0", Replace: &debug.Module{Path: "example.com/b", Version: "v2.0.0", Sum: "h1:b"}}, Module{"example.com/b", "v2.0.0", "h1:b"}},
		"a folder of this checkout": {debug.Module{Path: licence.Own, Version: "v0.0.0", Replace: &debug.Module{Path: "../", Version: "(devel)"}}, Module{licence.Own, "v0.1.0", ""}},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := linked(&tt.asked, "v0.1.0"); got != tt.want {
				t.Errorf("linked %+v; want %+v", got, tt.want)
			}
		})
	}
}

func TestReadRefusesWhatGoDidNotBuild(t *testing.T) {
	name := filepath.Join(t.TempDir(), "script")
	if err := os.WriteFile(name, []byte("#!/bin/sh\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if _, err := Read(name, "v0.1.0"); err == nil || !strings.Contains(err.Error(), name) {
		t.Errorf("error %v does not name the file", err)
	}
}

// program has one module of each sort.
var program = Program{
	Name: "daemok", Package: licence.Own + "/cmd/daemok", OS: "linux", Arch: "arm64", Go: "v1.26.8", SHA256: strings.Repeat("0123456789abcdef", 4),
	Modules: []Module{
		{Path: licence.Own, Version: "v0.1.0"},
		{Path: "example.com/Big", Version: "v2.0.0+incompatible", Sum: "h1:" + strings.Repeat("A", 43) + "="},
		{Path: "example.com/unknown", Version: "v1.0.0"},
	},
}

func bill(t *testing.T, p Program, k known) []byte {
	t.Helper()
	modules, err := Licences(p, k)
	if err != nil {
		t.Fatal(err)
	}
	b, err := Bill(p, modules, commit)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

func TestTheBillIsWhatScannersRead(t *testing.T) {
	written := bill(t, program, known{"Apache-2.0", "MIT"})
	var bom cyclonedx.BOM
	if err := cyclonedx.NewBOMDecoder(bytes.NewReader(written), cyclonedx.BOMFileFormatJSON).Decode(&bom); err != nil {
		t.Fatal(err)
	}
	if bom.SpecVersion != cyclonedx.SpecVersion1_6 || bom.SerialNumber != "urn:uuid:01234567-89ab-8def-8123-456789abcdef" || bom.Metadata.Timestamp != "2026-11-27T06:41:43Z" {
		t.Errorf("version %v, serial number %s, time %s", bom.SpecVersion, bom.SerialNumber, bom.Metadata.Timestamp)
	}
	of := bom.Metadata.Component
	if of.Name != "daemok" || of.Version != "v0.1.0" || of.PackageURL != "pkg:golang/github.com/daemok/daemok/cmd/daemok@v0.1.0" || (*of.Hashes)[0].Value != program.SHA256 {
		t.Errorf("it is the bill of %+v", of)
	}
	want := []string{
		"pkg:golang/example.com/big@v2.0.0%2Bincompatible " + strings.Repeat("0", 64) + " Apache-2.0 MIT",
		"pkg:golang/example.com/unknown@v1.0.0",
		"pkg:golang/github.com/daemok/daemok@v0.1.0 Apache-2.0 MIT",
		"pkg:golang/stdlib@v1.26.8 Apache-2.0 MIT",
	}
	for i, c := range *bom.Components {
		got := c.PackageURL
		if c.Hashes != nil {
			got += " " + (*c.Hashes)[0].Value
		}
		if c.Licenses != nil {
			for _, l := range *c.Licenses {
				got += " " + l.License.ID
			}
		}
		if i >= len(want) || got != want[i] {
			t.Errorf("component %d is %q; want %q", i, got, want)
		}
	}
	if d := (*bom.Dependencies)[0]; d.Ref != "daemok" || len(*d.Dependencies) != len(want) {
		t.Errorf("dependencies %+v; want all %d components", d, len(want))
	}
}

func TestTheSameProgramHasTheSameBill(t *testing.T) {
	one, again := bill(t, program, nil), bill(t, program, nil)
	if !bytes.Equal(one, again) || !json.Valid(one) {
		t.Errorf("written twice:\n%s\n%s", one, again)
	}
	if _, err := Bill(program, []licence.Module{{Path: "example.com/a"}}, commit); err != nil {
		t.Error(err)
	}
	broken := program
	broken.Modules = []Module{{Path: "example.com/a", Sum: "h1:%"}}
	if _, err := Bill(broken, []licence.Module{{Path: "example.com/a"}}, commit); err == nil || !strings.Contains(err.Error(), "example.com/a") {
		t.Errorf("a sum that is none: %v; want an error that names the module", err)
	}
}
