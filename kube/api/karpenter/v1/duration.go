package v1

import (
	"fmt"
	"time"
)

// Never is the DurationOrNever that switches a timer off.
const Never = "Never"

// Duration is a length of time as written in a manifest: whole numbers of
// hours, minutes and seconds such as "1h30m". It keeps the user's spelling.
// The empty Duration is unset.
//
// +kubebuilder:validation:Pattern=`^([0-9]+(s|m|h))+$`
type Duration string

// Value returns the length and whether one is set. A text that is no length
// counts as unset; admission refuses such texts, and validation names those
// too long to represent.
func (d Duration) Value() (time.Duration, bool) {
	length, err := parseDuration(string(d))
	return length, err == nil
}

// Check returns an error if a length is set and cannot be represented.
func (d Duration) Check() error {
	if d == "" {
		return nil
	}
	_, err := parseDuration(string(d))
	return err
}

// DurationOrNever is a Duration or the word Never.
//
// +kubebuilder:validation:Pattern=`^(([0-9]+(s|m|h))+|Never)$`
type DurationOrNever string

// Value returns the length, and false for Never and for an unset field.
func (d DurationOrNever) Value() (time.Duration, bool) {
	if d == Never {
		return 0, false
	}
	return Duration(d).Value()
}

// Check returns an error if a length is set and cannot be represented.
func (d DurationOrNever) Check() error {
	if d == Never {
		return nil
	}
	return Duration(d).Check()
}

func parseDuration(text string) (time.Duration, error) {
	length, err := time.ParseDuration(text)
	if err != nil {
		return 0, fmt.Errorf("%q is no length of time Daemok can represent, write hours, minutes and seconds such as 1h30m, at most 292 years", text)
	}
	return length, nil
}
