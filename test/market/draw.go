package market

import (
	"hash/fnv"
	"math"
	"time"
)

// draw is a number in [0, 1) that depends on the seed and the names alone, so
// that one draw never shifts another.
func draw(seed uint64, names ...string) float64 {
	h := fnv.New64a()
	var s [8]byte
	for i := range s {
		s[i] = byte(seed >> (8 * i))
	}
	_, _ = h.Write(s[:]) // a hash never fails
	for _, name := range names {
		_, _ = h.Write([]byte(name))
		_, _ = h.Write([]byte{0})
	}
	x := h.Sum64() // finalised as in MurmurHash3, since FNV's high bits mix slowly
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	x ^= x >> 33
	return float64(x>>11) / (1 << 53)
}

// tailQuantile is the standard normal quantile of 0.99.
const tailQuantile = 2.3263

// at is the duration that a share u of draws stays below: log-normal through
// Half and Tail.
func (s Spread) at(u float64) time.Duration {
	if s.Half <= 0 {
		return 0
	}
	sigma := math.Log(float64(s.Tail)/float64(s.Half)) / tailQuantile
	return time.Duration(float64(s.Half) * math.Exp(float64(sigma*normalQuantile(u))))
}

// normalQuantile is the inverse of the standard normal distribution, by the
// identity with the inverse error function.
func normalQuantile(u float64) float64 {
	u = min(max(u, 1e-9), 1-1e-9)
	return math.Sqrt2 * math.Erfinv(float64(2*u)-1)
}
