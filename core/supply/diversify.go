package supply

import (
	"github.com/daemok/daemok/core/bitset"
	"slices"
)

// ManyKinds reports whether enough of the options are of use where one of them is
// launched first.
func (b *Candidate) ManyKinds(options bitset.Set, first int) bool {
	return len(slices.Collect(b.SpotKinds(options, 0, first, nil))) >= flexible
}

func (b *Candidate) WithoutKind(options bitset.Set, kind int) {
	for i := options.Next(0); i >= 0; i = options.Next(i + 1) {
		if b.same(b.Options[i].Kind, kind) {
			options.Remove(i)
		}
	}
}

// LittleMore is how many times the price of the cheapest a spot offering may cost to be as good as it.
const LittleMore = 1.1
