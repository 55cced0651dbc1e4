// Package dependency is of another module.
package dependency

import "os"

// Old is.
//
// Deprecated: use New.
func Old() {}

// T has a method and a field that are no longer for use.
type T struct {
	// Gone is.
	//
	// Deprecated: nothing reads it.
	Gone int
}

// Old is.
//
// Deprecated: use New.
func (T) Old() {}

// Remove has a mistake that is none of our business.
func Remove() { os.Remove("x") }
