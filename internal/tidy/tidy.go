// Package tidy checks rules of this repository that a compiler does not know. They say which folder
// may import which, what the core may not do, how packages are named, and that the documents are
// complete. Its tests apply the rules to the tree; each rule is also tried on a planted violation.
//
// It promises to name the offender, the rule and the reason. It repairs nothing, and it holds no rule
// that a linter already has.
package tidy

import (
	"fmt"
	"strings"
)

// Module is the path of the main module.
const Module = "github.com/daemok/daemok"

// Violation is one broken rule.
type Violation struct {
	Where  string // package, or file with line
	What   string // what was found there
	Reason string // why it may not be
}

// String prints "core/place imports github.com/daemok/daemok/cloud: dependencies point inwards".
func (v Violation) String() string {
	return fmt.Sprintf("%s %s: %s", v.Where, v.What, v.Reason)
}

// folderOf returns the folder of a package of the main module, "" for others.
func folderOf(path string) string {
	if path == Module {
		return "."
	}
	folder, ok := strings.CutPrefix(path, Module+"/")
	if !ok {
		return ""
	}
	return folder
}

// within says whether a slash-separated path is prefix or lies below it.
func within(path, prefix string) bool {
	return path == prefix || strings.HasPrefix(path, strings.TrimSuffix(prefix, "/")+"/")
}
