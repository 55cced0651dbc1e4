package place

import "math"

// count returns how many times need fits in free.
func count(free, need []int64) int64 {
	n := int64(math.MaxInt64)
	for i, v := range need {
		if v > 0 {
			n = min(n, free[i]/v)
		}
	}
	return max(0, n)
}

func take(free, need []int64, n int64) {
	for i, v := range need {
		free[i] -= v * n
	}
}

// value is what an amount is worth; negative amounts are worth nothing.
func value(worth []float64, amount []int64) float64 {
	sum := 0.0
	for i, w := range worth {
		sum += float64(w * float64(max(0, amount[i])))
	}
	return sum
}
