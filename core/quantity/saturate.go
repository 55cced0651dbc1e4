package quantity

import "math"

// Most is the largest amount that is distinguished: more than it counts as it. No sum or product of
// amounts wraps around, so that a request for more than can be counted asks for more than there is
// anywhere, and never for nothing.
const Most = math.MaxInt64

// Sum returns a + b, or the amount nearest to it that can be counted.
func Sum(a, b int64) int64 {
	switch sum := a + b; {
	case a > 0 && b > 0 && sum < 0:
		return math.MaxInt64
	case a < 0 && b < 0 && sum >= 0:
		return math.MinInt64
	default:
		return sum
	}
}

// Difference returns a - b, or the amount nearest to it that can be counted.
func Difference(a, b int64) int64 {
	switch difference := a - b; {
	case a >= 0 && b < 0 && difference < 0:
		return math.MaxInt64
	case a < 0 && b > 0 && difference >= 0:
		return math.MinInt64
	default:
		return difference
	}
}

// Product returns a * n, or the amount nearest to it that can be counted.
func Product(a, n int64) int64 {
	if a == 0 || n == 0 {
		return 0
	}
	overflows := a == -1 && n == math.MinInt64 || n == -1 && a == math.MinInt64
	if product := a * n; !overflows && product/n == a {
		return product
	}
	if (a < 0) != (n < 0) {
		return math.MinInt64
	}
	return math.MaxInt64
}
