// Package bitset holds sets of small non-negative integers, one bit each.
//
// It promises to visit members in ascending order. A set does not grow: it holds numbers below the
// length that it was made for.
package bitset

import (
	"iter"
	"math/bits"
)

// Set is a set of numbers from 0 up to the length it was made for.
type Set []uint64

// New returns an empty set with room for the numbers below n.
func New(n int) Set { return make(Set, Words(n)) }

// Words is the length of a set with room for the numbers below n.
func Words(n int) int { return (n + 63) / 64 }

// Full returns the set of all numbers below n.
func Full(n int) Set {
	s := New(n)
	for i := range s {
		s[i] = ^uint64(0)
	}
	if rest := n % 64; rest > 0 {
		s[len(s)-1] = 1<<rest - 1
	}
	return s
}

// Add puts i into the set.
func (s Set) Add(i int) { s[i/64] |= 1 << (i % 64) }

// Remove takes i out of the set.
func (s Set) Remove(i int) { s[i/64] &^= 1 << (i % 64) }

// Has reports whether i is in the set.
func (s Set) Has(i int) bool { return s[i/64]&(1<<(i%64)) != 0 }

// And keeps only what is in t as well. Both must have the same length.
func (s Set) And(t Set) {
	for i := range s {
		s[i] &= t[i]
	}
}

// Or adds all of t. Both must have the same length.
func (s Set) Or(t Set) {
	for i := range s {
		s[i] |= t[i]
	}
}

// Intersects reports whether both have a member in common.
func (s Set) Intersects(t Set) bool {
	for i := range s {
		if s[i]&t[i] != 0 {
			return true
		}
	}
	return false
}

// Difference visits what is in one of the two only. Both must have the same length.
func (s Set) Difference(t Set) iter.Seq[int] {
	return func(yield func(int) bool) {
		for i := range s {
			for w := s[i] ^ t[i]; w != 0; w &= w - 1 {
				if !yield(i*64 + bits.TrailingZeros64(w)) {
					return
				}
			}
		}
	}
}

// Clone returns a copy.
func (s Set) Clone() Set { return append(Set(nil), s...) }

// Count returns the number of members.
func (s Set) Count() int {
	n := 0
	for _, w := range s {
		n += bits.OnesCount64(w)
	}
	return n
}

// Next returns the smallest member that is at least from, or -1.
func (s Set) Next(from int) int {
	word := from / 64
	if word >= len(s) {
		return -1
	}
	if w := s[word] >> (from % 64); w != 0 {
		return from + bits.TrailingZeros64(w)
	}
	for word++; word < len(s); word++ {
		if s[word] != 0 {
			return word*64 + bits.TrailingZeros64(s[word])
		}
	}
	return -1
}
