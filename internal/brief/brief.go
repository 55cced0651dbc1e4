// Package brief shortens a list in a sentence: it names the first few of many.
//
// It promises that a text does not grow with the number of things it is about. It sorts nothing, and
// leaves out only things at the end.
package brief

import (
	"fmt"
	"strings"
)

// List is names with commas between them; of more than most of them, the first that many and how many more there are.
func List(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}
