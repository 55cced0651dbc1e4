// Package misspelt guesses which flag a user meant by one that a program does not have.
//
// It promises the same guess for the same flags, and decides nothing.
package misspelt

import (
	"errors"
	"fmt"

	"github.com/spf13/pflag"

	"github.com/daemok/daemok/internal/nearest"
)

// Flag adds to an error of parsing the flag that was probably meant, or else where all are listed: the command that prints
// help is help. Errors about other things stay as they are.
func Flag(err error, flags *pflag.FlagSet, help string) error {
	var unknown *pflag.NotExistError
	if !errors.As(err, &unknown) {
		return err
	}
	var names []string
	flags.VisitAll(func(f *pflag.Flag) { names = append(names, f.Name) })
	if near := nearest.Word(unknown.GetSpecifiedName(), names); near != "" {
		return fmt.Errorf("%w: did you mean --%s?", err, near)
	}
	return fmt.Errorf("%w: %s lists the flags", err, help)
}
