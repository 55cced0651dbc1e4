package world

import (
	"slices"
	"strconv"
	"strings"
)

// PublishedMinors are the minor versions with images: 1.29 to 1.36, and the
// account's own with its successor.
func PublishedMinors(version string) []int {
	var minors []int
	for minor := 29; minor <= 36; minor++ {
		minors = append(minors, minor)
	}
	own, known := MinorOf(version)
	if !known {
		return minors
	}
	for _, minor := range []int{own, own + 1} {
		if !slices.Contains(minors, minor) {
			minors = append(minors, minor)
		}
	}
	return minors
}

// MinorOf reads the minor version of 1.36.
func MinorOf(version string) (minor int, known bool) {
	minor, err := strconv.Atoi(strings.TrimPrefix(version, "1."))
	return minor, err == nil && strings.HasPrefix(version, "1.")
}
