// Package say is imported by the others: what is known of it is known there.
package say

import "fmt"

// Sayf prints as fmt.Printf does.
func Sayf(format string, arguments ...any) { fmt.Printf(format, arguments...) }

// Old is.
//
// Deprecated: use Sayf.
func Old() {}

// Stop never returns.
func Stop() { panic("stopped") }
