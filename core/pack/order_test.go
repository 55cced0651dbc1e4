package pack_test

import (
	"testing"

	"github.com/daemok/daemok/core/pack"
)

// TestPodsThatRefuseEachOtherAreFewSets reports eleven pods that each stay away from pods like
// themselves, two of them from each other: to find out that these two are never together does not
// take a check of every order of the others.
func TestPodsThatRefuseEachOtherAreFewSets(t *testing.T) {
	var groups []pack.Group
	for kind := range 11 {
		groups = append(groups, apart(group(1, 1, 1), kind))
	}
	for _, i := range []int{9, 10} {
		groups[i] = apart(groups[i], 11)
	}
	want := "1×0 1×1 1×2 1×3 1×4 1×5 1×6 1×7 1×8 1×9 on 0, 1×10 on 0"
	if got := text(pack.Solve(batch(offerings(offering(1, 20, 20)), groups...), 20_000)); got != want {
		t.Errorf("bought %q, want %q", got, want)
	}
}
