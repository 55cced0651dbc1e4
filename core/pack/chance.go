package pack

// chance makes numbers that appear random and are the same on every host: SplitMix64 (Steele, Lea
// and Flood, "Fast splittable pseudorandom number generators", 2014).
type chance uint64

func (c *chance) next() uint64 {
	*c += 0x9e3779b97f4a7c15
	z := uint64(*c)
	z = (z ^ z>>30) * 0xbf58476d1ce4e5b9
	z = (z ^ z>>27) * 0x94d049bb133111eb
	return z ^ z>>31
}

// below returns a number from 0 to n-1.
func (c *chance) below(n int) int { return int((c.next() >> 33) % uint64(n)) }

// share returns a number from 0 up to, but not including, 1.
func (c *chance) share() float64 { return float64(float64(c.next()>>11) / (1 << 53)) }
