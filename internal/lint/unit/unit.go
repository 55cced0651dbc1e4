// Package unit reads what the go command asks of a vet tool: one package at a time, with files that
// hold the facts of its imports. It promises to return only as much of an answer as is worth its time.
// It checks no code, except for a word in its comments.
package unit

import (
	"bytes"
	"encoding/json"
	"fmt"
	"os"
	"strings"
)

// ours is the path of the main module; those of all others here begin with it.
const ours = "github.com/daemok/daemok"

// Unit is a package to check. The go command writes it, in JSON.
type Unit struct {
	ID            string // with the name of the test, if the package is compiled for one
	ImportPath    string
	GoVersion     string
	GoFiles       []string // absolute
	NonGoFiles    []string
	IgnoredFiles  []string
	ModulePath    string            // "" for the standard library
	ModuleVersion string            // "" for a module that is not downloaded
	ImportMap     map[string]string // import as it is written, to path
	PackageFile   map[string]string // path to compiled package, of imports
	PackageVetx   map[string]string // path to facts, of imports
	VetxOnly      bool              // asks for facts alone
	VetxOutput    string            // where facts go
	Stdout        string            // where findings go
}

// Read reads a unit from the file that the go command has written.
func Read(file string) (Unit, error) {
	text, err := os.ReadFile(file)
	if err != nil {
		return Unit{}, err
	}
	var u Unit
	if err := json.Unmarshal(text, &u); err != nil {
		return Unit{}, fmt.Errorf("read %s: %w", file, err)
	}
	return u, nil
}

// Answer is how much is found out about a unit.
type Answer int

// From the most expensive to the cheapest.
const (
	Findings   Answer = iota // what linters find, and facts
	Facts                    // all that linters of other packages want to know of this one
	Directives               // what comments say to its users: deprecated, or to be inlined
	Nothing
)

// Wanted returns how much is to be found out. Thousands of packages of other modules are compiled into ours, and
// to follow the values through each of their functions would take many times as long as our own code. So linters
// know what is deprecated or to be inlined in those of them that a package imports itself. They do not know which
// of their functions print as Printf does, never return, are pure (SA4017) or ask for pairs (SA5012); of the
// standard library and of our own modules they do.
func (u Unit) Wanted() (Answer, error) {
	switch {
	case !u.VetxOnly:
		return Findings, nil
	case u.ModulePath == "" && hidden(u.ImportPath):
		return Nothing, nil
	case u.ModulePath == "" || u.ModulePath == ours || strings.HasPrefix(u.ModulePath, ours+"/"):
		return Facts, nil
	}
	for _, name := range u.GoFiles {
		text, err := os.ReadFile(name)
		if err != nil {
			return Nothing, err
		}
		if bytes.Contains(text, []byte("Deprecated: ")) || bytes.Contains(text, []byte("//go:fix inline")) {
			return Directives, nil
		}
	}
	return Nothing, nil
}

// hidden reports a package of the standard library that nothing else can import.
func hidden(path string) bool {
	return strings.HasPrefix(path, "vendor/") || strings.Contains("/"+path+"/", "/internal/")
}
