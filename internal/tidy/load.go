package tidy

import (
	"errors"
	"fmt"
	"strings"

	"golang.org/x/tools/go/packages"
)

// load reads the packages that match patterns in dir, with types and without tests.
func load(dir string, patterns ...string) ([]*packages.Package, error) {
	loaded, err := packages.Load(&packages.Config{
		Dir: dir,
		Mode: packages.NeedName | packages.NeedFiles | packages.NeedSyntax | packages.NeedTypes |
			packages.NeedTypesInfo | packages.NeedImports | packages.NeedModule,
	}, patterns...)
	for _, p := range loaded {
		for _, e := range p.Errors {
			err = errors.Join(err, e)
		}
	}
	if err != nil {
		return nil, fmt.Errorf("load %s in %s: %w", strings.Join(patterns, " "), dir, err)
	}
	return loaded, nil
}
