package main

import (
	"bytes"
	"cmp"
	"encoding/gob"
	"fmt"
	"go/types"
	"os"
	"reflect"
	"slices"

	"golang.org/x/tools/go/analysis"
	"golang.org/x/tools/go/types/objectpath"
)

// facts are what analyzers know of objects and packages, for when packages that import them are checked. A
// file holds those of one package.
type facts map[subject]analysis.Fact

type subject struct {
	of   any // a types.Object or a *types.Package
	kind reflect.Type
}

// written is a fact in a file. A path of "" means the package.
type written struct {
	Path objectpath.Path
	Fact analysis.Fact
}

func (f facts) set(of any, fact analysis.Fact) { f[subject{of, reflect.TypeOf(fact)}] = fact }

// get copies what is known to where into points, if anything is.
func (f facts) get(of any, into analysis.Fact) bool {
	known, ok := f[subject{of, reflect.TypeOf(into)}]
	if ok {
		reflect.ValueOf(into).Elem().Set(reflect.ValueOf(known).Elem())
	}
	return ok
}

// objects returns what is known of objects, in no order.
func (f facts) objects(kinds []analysis.Fact) []analysis.ObjectFact {
	var found []analysis.ObjectFact
	for s, fact := range f {
		if object, ok := s.of.(types.Object); ok && isOf(s, kinds) {
			found = append(found, analysis.ObjectFact{Object: object, Fact: fact})
		}
	}
	return found
}

// packages returns what is known of packages, in no order.
func (f facts) packages(kinds []analysis.Fact) []analysis.PackageFact {
	var found []analysis.PackageFact
	for s, fact := range f {
		if p, ok := s.of.(*types.Package); ok && isOf(s, kinds) {
			found = append(found, analysis.PackageFact{Package: p, Fact: fact})
		}
	}
	return found
}

func isOf(s subject, kinds []analysis.Fact) bool {
	return slices.ContainsFunc(kinds, func(kind analysis.Fact) bool { return reflect.TypeOf(kind) == s.kind })
}

// read adds what files say of imported packages. An empty file says nothing, and what a file says of objects that this package
// cannot see is left out.
func (f facts) read(imports []*types.Package, files map[string]string) error {
	for _, imported := range imports {
		name, ok := files[imported.Path()]
		if !ok {
			continue
		}
		text, err := os.ReadFile(name)
		if err != nil {
			return err
		}
		if len(text) == 0 {
			continue
		}
		var known []written
		if err := gob.NewDecoder(bytes.NewReader(text)).Decode(&known); err != nil {
			return fmt.Errorf("read what is known of %s: %w", imported.Path(), err)
		}
		for _, one := range known {
			if one.Path == "" {
				f.set(imported, one.Fact)
			} else if object, err := objectpath.Object(imported, one.Path); err == nil {
				f.set(object, one.Fact)
			}
		}
	}
	return nil
}

// write writes what is known of a package and of objects in it that others can see, always in the same order: the go
// command asks about packages again when what is written of one they import changes.
func (f facts) write(pkg *types.Package, file string) error {
	var known []written
	var encoder objectpath.Encoder
	for s, fact := range f {
		switch of := s.of.(type) {
		case *types.Package:
			if of == pkg {
				known = append(known, written{"", fact})
			}
		case types.Object:
			if of.Pkg() != pkg {
				continue
			}
			if path, err := encoder.For(of); err == nil {
				known = append(known, written{path, fact})
			}
		}
	}
	slices.SortFunc(known, func(a, b written) int {
		return cmp.Or(cmp.Compare(a.Path, b.Path), cmp.Compare(fmt.Sprintf("%T", a.Fact), fmt.Sprintf("%T", b.Fact)))
	})
	var text bytes.Buffer
	if len(known) > 0 {
		if err := gob.NewEncoder(&text).Encode(known); err != nil {
			return fmt.Errorf("write what is known of %s: %w", pkg.Path(), err)
		}
	}
	return os.WriteFile(file, text.Bytes(), 0o666)
}
