package tidy

import (
	"strings"
	"testing"

	"golang.org/x/tools/go/packages"
)

// planted loads files of a test as if they were packages of this module.
func planted(t *testing.T, files map[string]string) []*packages.Package {
	t.Helper()
	loaded, err := load(module(t, files), "./...")
	if err != nil {
		t.Fatal(err)
	}
	for _, p := range loaded {
		p.PkgPath = strings.Replace(p.PkgPath, "example.com/planted", Module, 1)
	}
	return loaded
}
