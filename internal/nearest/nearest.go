// Package nearest suggests the closest known word for an unknown one.
//
// It promises the same guess for the same words, and none where no word is near.
package nearest

import (
	"slices"
	"strings"
)

// Word returns the word of the list that was probably meant: the first of
// those that differ from it by the fewest letters, where these are no more
// than a quarter of it; else none. Capitals count as small letters.
func Word(word string, list []string) string {
	best, least := "", max(1, len(word)/4)+1
	for _, candidate := range list {
		if d := distance(strings.ToLower(word), strings.ToLower(candidate)); d < least {
			best, least = candidate, d
		}
	}
	return best
}

// distance counts the letters to add, remove or change to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := slices.Clone(row)
		row[0] = i + 1
		for j := range len(b) {
			change := before[j]
			if a[i] != b[j] {
				change++
			}
			row[j+1] = min(change, before[j+1]+1, row[j]+1)
		}
	}
	return row[len(b)]
}

// DidYouMean ends a sentence about a word with the one probably meant; it is
// empty where there is none.
func DidYouMean(word string, list []string) string {
	if near := Word(word, list); near != "" {
		return ", did you mean " + near + "?"
	}
	return ""
}
