// Package validate checks what an API server cannot: rules of Daemok's resources that need more than a
// schema, and rules of Karpenter that let an object through at admission and refuse it later.
//
// Every function is pure, and returns its findings in the order of the fields. A finding names the
// field and what to do. An error means that the object must not be used; a warning means that it is
// used, although a part of it means nothing or something surprising. Nothing here reads a cluster or a
// cloud.
package validate

import (
	"fmt"
	"slices"
	"strings"
)

// Finding is one thing that is wrong or doubtful in an object.
type Finding struct {
	// Field is the path of the field, such as "spec.limits.cpu".
	Field string
	// Text says what is wrong and what to do, for users.
	Text string
	// Reason is the condition's reason, where the kind has several; else empty.
	Reason string
	// Warning says that the object is used nevertheless.
	Warning bool
}

// String returns the finding as one line.
func (f Finding) String() string { return f.Field + ": " + f.Text }

// Errors returns the findings that forbid using the object.
func Errors(found []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return f.Warning })
}

// Warnings returns the findings that do not.
func Warnings(found []Finding) []Finding {
	return slices.DeleteFunc(slices.Clone(found), func(f Finding) bool { return !f.Warning })
}

// reportedMost bounds how many mistakes one text names: conditions have a limit.
const reportedMost = 20

// Refusal names in one text everything that forbids using the object, so that it
// can be put right at once: the first reportedMost findings, and how many more there
// are. Empty: nothing does.
func Refusal(found []Finding) string {
	wrong := Errors(found)
	words := make([]string, min(len(wrong), reportedMost))
	for i := range words {
		words[i] = wrong[i].String()
	}
	if more := len(wrong) - len(words); more > 0 {
		words = append(words, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(words, "; ")
}

// findings collects what the checks of one object find.
type findings struct{ all []Finding }

func (f *findings) refuse(field, format string, args ...any) {
	f.all = append(f.all, Finding{Field: field, Text: fmt.Sprintf(format, args...)})
}

func (f *findings) refuseAs(reason, field, format string, args ...any) {
	f.all = append(f.all, Finding{Field: field, Text: fmt.Sprintf(format, args...), Reason: reason})
}

func (f *findings) warn(field, format string, args ...any) {
	f.all = append(f.all, Finding{Field: field, Text: fmt.Sprintf(format, args...), Warning: true})
}
