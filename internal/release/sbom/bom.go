package sbom

import (
	"bytes"
	"encoding/base64"
	"encoding/hex"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/CycloneDX/cyclonedx-go"

	"github.com/daemok/daemok/internal/release/licence"
	"github.com/daemok/daemok/internal/release/source"
)

// specification is the version of CycloneDX that scanners of today read.
const specification = cyclonedx.SpecVersion1_6

// finder knows the files about the licences of a module.
type finder interface {
	Of(path, version string) ([]licence.File, error)
}

// Licences returns all modules of a program, the standard library among them,
// with the files about their licences, sorted by path.
func Licences(p Program, f finder) ([]licence.Module, error) {
	all := append(slices.Clone(p.Modules), Module{Path: licence.Standard, Version: p.Go})
	slices.SortFunc(all, func(a, b Module) int { return strings.Compare(a.Path, b.Path) })
	var found []licence.Module
	for _, m := range all {
		files, err := f.Of(m.Path, m.Version)
		if err != nil {
			return nil, err
		}
		found = append(found, licence.Module{Path: m.Path, Version: m.Version, Files: files})
	}
	return found, nil
}

// Bill returns the bill of materials of a program as JSON. The modules are
// those that Licences returned for it.
func Bill(p Program, modules []licence.Module, s source.Source) ([]byte, error) {
	sums := map[string]string{}
	for _, m := range p.Modules {
		sums[m.Path] = m.Sum
	}
	program := cyclonedx.Component{
		BOMRef: p.Name, Type: cyclonedx.ComponentTypeApplication, Name: p.Name, Version: s.Version, PackageURL: packageURL(p.Package, s.Version),
		Hashes:             &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: p.SHA256}},
		Licenses:           &cyclonedx.Licenses{{License: &cyclonedx.License{ID: "Apache-2.0"}}},
		ExternalReferences: &[]cyclonedx.ExternalReference{{Type: cyclonedx.ERTypeVCS, URL: "https://" + licence.Own}},
		Properties: &[]cyclonedx.Property{
			{Name: "daemok:commit", Value: s.Commit}, {Name: "daemok:goos", Value: p.OS}, {Name: "daemok:goarch", Value: p.Arch}, {Name: "daemok:go", Value: p.Go},
		},
	}
	var components []cyclonedx.Component
	var linked []string
	for _, m := range modules {
		c, err := component(m, sums[m.Path])
		if err != nil {
			return nil, err
		}
		components, linked = append(components, c), append(linked, c.BOMRef)
	}
	bom := cyclonedx.NewBOM()
	bom.SerialNumber = serial(p.SHA256)
	bom.Metadata = &cyclonedx.Metadata{Timestamp: s.CommittedAt.Format(time.RFC3339), Component: &program}
	bom.Components = &components
	bom.Dependencies = &[]cyclonedx.Dependency{{Ref: p.Name, Dependencies: &linked}}
	var out bytes.Buffer
	if err := cyclonedx.NewBOMEncoder(&out, cyclonedx.BOMFileFormatJSON).SetPretty(true).EncodeVersion(bom, specification); err != nil {
		return nil, fmt.Errorf("write the bill of materials of %s: %w", p.Name, err)
	}
	return out.Bytes(), nil
}

func component(m licence.Module, sum string) (cyclonedx.Component, error) {
	url := packageURL(m.Path, m.Version)
	c := cyclonedx.Component{BOMRef: url, Type: cyclonedx.ComponentTypeLibrary, Name: m.Path, Version: m.Version, PackageURL: url}
	if sum != "" {
		bytes, err := base64.StdEncoding.DecodeString(strings.TrimPrefix(sum, "h1:"))
		if err != nil {
			return c, fmt.Errorf("read the sum of %s: %w", m.Path, err)
		}
		c.Hashes = &[]cyclonedx.Hash{{Algorithm: cyclonedx.HashAlgoSHA256, Value: hex.EncodeToString(bytes)}}
	}
	var licences cyclonedx.Licenses
	for _, id := range ids(m) {
		licences = append(licences, cyclonedx.LicenseChoice{License: &cyclonedx.License{ID: id}})
	}
	if len(licences) > 0 {
		c.Licenses = &licences
	}
	return c, nil
}

func ids(m licence.Module) []string {
	var all []string
	for _, f := range m.Files {
		all = append(all, f.IDs...)
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// packageURL is the name by which scanners find vulnerabilities.
func packageURL(path, version string) string {
	return "pkg:golang/" + strings.ToLower(path) + "@" + strings.ReplaceAll(version, "+", "%2B")
}

// serial names the bill of one program and no other: a UUID of the program's hash.
func serial(sum string) string {
	return fmt.Sprintf("urn:uuid:%s-%s-8%s-8%s-%s", sum[:8], sum[8:12], sum[13:16], sum[17:20], sum[20:32])
}
