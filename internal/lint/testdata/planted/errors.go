// Package planted has a mistake for each linter. A comment at the end of a
// line names the linters, and their rules, that find something in it.
package planted

import (
	"errors"
	"fmt"
	"io"
	"os"
)

func unchecked(name string) {
	os.Remove(name) // want errcheck
	os.Remove(name) //nolint:errcheck // it need not be there
	os.Remove(name) //nolint:revive // of another linter // want errcheck
	fmt.Fprintln(os.Stderr, name)
}

func compared(err error) bool {
	if err == io.EOF { // want errorlint
		return true
	}
	_, ok := err.(*os.PathError) // want errorlint
	return ok
}

func wrapped(err error) error {
	return fmt.Errorf("read: %v", err) // want errorlint
}

func wrappedTwo(err error) error {
	return fmt.Errorf("read: %w: %w", err, errors.ErrUnsupported)
}

func forgotten(f func() error) error {
	if err := f(); err != nil {
		return nil // want nilerr
	}
	return nil
}

var _ = []any{unchecked, compared, wrapped, wrappedTwo, forgotten}
