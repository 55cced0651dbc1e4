package constraint

import (
	"math"
	"slices"
	"strings"
)

// valueLength is the most characters that the value of a label may have.
const valueLength = 63

// ValueRule says which values labels may have.
const ValueRule = "values of labels have at most 63 letters, digits, '-', '_' and '.', and begin and end with a letter or digit"

// IsValue reports whether a label may have the value: the API refuses any other.
func IsValue(value string) bool {
	if value == "" {
		return true
	}
	return len(value) <= valueLength && isAlphanumeric(value[0]) && isAlphanumeric(value[len(value)-1]) &&
		!strings.ContainsFunc(value, func(r rune) bool {
			return r > 127 || !isAlphanumeric(byte(r)) && r != '-' && r != '_' && r != '.'
		})
}

func isAlphanumeric(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
}

// Possible is what of the set a label of a node can be: not a value that the API
// refuses, nor a number below zero, which it would refuse for its sign.
func (s Set) Possible() Set {
	if slices.ContainsFunc(s.values, isNoValue) {
		s.values = keep(s.values, IsValue)
	}
	if open := s.low == math.MinInt64 && s.high >= 0 && len(s.values) == 0; s.bounded && !open {
		s.low = max(s.low, 0)
	}
	return s
}

func isNoValue(value string) bool { return !IsValue(value) }

// Possible is what of the requirements labels of a node can be.
func (rs Requirements) Possible() Requirements {
	if !slices.ContainsFunc(rs, func(r Requirement) bool { return !r.Set.Equal(r.Set.Possible()) }) {
		return rs
	}
	out := slices.Clone(rs)
	for i := range out {
		out[i].Set = out[i].Set.Possible()
	}
	return out
}
