package decide

import (
	"cmp"
	"maps"
	"slices"

	"github.com/daemok/daemok/core/place"
)

// compare is negative where the first answer is the better one.
func compare(a, b *place.Result) int {
	return cmp.Or(compareLeft(a, b), cmp.Compare(a.Unpriced, b.Unpriced), cmp.Compare(a.Cost, b.Cost))
}

// compareLeft is negative where fewer pods of the highest priority are left without a place in a
// than in b, and positive where more are; where as many are, the next priority decides. Cost does
// not decide which pods go without, and neither does a number of pods that are less important.
func compareLeft(a, b *place.Result) int {
	more := map[int32]int{} // by priority: how many more are left in a
	for i := range a.Unplaced {
		more[a.Unplaced[i].Shape.Priority] += len(a.Unplaced[i].Pods)
	}
	for i := range b.Unplaced {
		more[b.Unplaced[i].Shape.Priority] -= len(b.Unplaced[i].Pods)
	}
	for _, priority := range slices.Backward(slices.Sorted(maps.Keys(more))) {
		if n := more[priority]; n != 0 {
			return n
		}
	}
	return 0
}
