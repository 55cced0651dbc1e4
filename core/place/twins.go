package place

import (
	"github.com/daemok/daemok/core/supply"
)

// setTwins finds pools that offer the same for the same.
func setTwins(candidates []*supply.Candidate) {
	for i, b := range candidates {
		if !b.Steady() {
			continue
		}
		b.Like = b
		for _, other := range candidates[:i] {
			if other.Like == other && b.OffersAs(other) {
				b.Like = other
				break
			}
		}
	}
}
