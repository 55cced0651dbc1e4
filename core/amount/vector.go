package amount

import (
	"cmp"
	"math"
)

// Count returns how many times need fits in free.
func Count(free, need []int64) int64 {
	n := int64(math.MaxInt64)
	for i, v := range need {
		if v > 0 {
			n = min(n, free[i]/v)
		}
	}
	return max(0, n)
}

// Take takes n times need off what is free.
func Take(free, need []int64, n int64) {
	for i, v := range need {
		free[i] -= v * n
	}
}

// Value is what an amount is worth, where worth is that of one unit of each resource. Negative amounts
// are worth nothing.
func Value(worth []float64, amount []int64) float64 {
	sum := 0.0
	for i, w := range worth {
		sum += float64(w * float64(max(0, amount[i])))
	}
	return sum
}

// Covers reports whether a has at least as much of everything as b.
func Covers[T cmp.Ordered](a, b []T) bool {
	for i, v := range b {
		if a[i] < v {
			return false
		}
	}
	return true
}

// Share is the part of need that is free, of the scarcest resource; 1 if all of it is, or if free is nil.
func Share(free, need []int64) float64 {
	out := 1.0
	for i, v := range need {
		if v > 0 && free != nil {
			out = min(out, float64(max(0, free[i]))/float64(v))
		}
	}
	return out
}

// Positive converts amounts to floating-point numbers, those below zero to zero.
func Positive(amounts []int64) []float64 {
	out := make([]float64, len(amounts))
	for i, v := range amounts {
		out[i] = float64(max(0, v))
	}
	return out
}
