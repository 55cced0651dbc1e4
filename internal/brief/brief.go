// Package brief writes parts of sentences: lists of which it names the first few, numbers of things, words behind others.
//
// It promises that a text does not grow with the number of things it is about. It sorts nothing, and
// leaves out only things at the end.
package brief

import (
	"fmt"
	"slices"
	"strings"
)

// List is names with commas between them; of more than most of them, the first that many and how many more there are.
func List(names []string, most int) string {
	if more := len(names) - most; more > 0 {
		return fmt.Sprintf("%s and %d more", strings.Join(names[:most], ", "), more)
	}
	return strings.Join(names, ", ")
}

// Counted prints a number of things: "1 error", "2 errors". A plural that is no s behind the words is given.
func Counted(n int, noun string, plural ...string) string {
	switch {
	case n == 1:
	case len(plural) > 0:
		noun = plural[0]
	default:
		noun += "s"
	}
	return fmt.Sprintf("%d %s", n, noun)
}

// AboveLeast says how far a cost is above the least possible, of which the gap is a share: "11.1 % above the least
// possible", and "at the least possible" where that is below a tenth of a per cent.
func AboveLeast(gap float64) string {
	if share := fmt.Sprintf("%.1f %%", 100*max(0, gap)); share != "0.0 %" {
		return share + " above the least possible"
	}
	return "at the least possible"
}

// NonEmpty are the texts that are not empty, in their order.
func NonEmpty(texts ...string) []string {
	return slices.DeleteFunc(texts, func(t string) bool { return t == "" })
}

// After is text with words before it, where there is any.
func After(words, text string) string {
	if text == "" {
		return ""
	}
	return words + text
}
