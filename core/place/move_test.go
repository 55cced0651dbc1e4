package place

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/daemok/daemok/core/cluster"
)

// TestReorderPutsTargetsInOrder compares with sorting them all.
func TestReorderPutsTargetsInOrder(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 43))
		targets := make([]*target, r.IntN(40))
		for i := range targets {
			targets[i] = &target{name: fmt.Sprintf("n%02d", i), node: &cluster.Node{Initialized: r.IntN(4) > 0}, free: []int64{int64(r.IntN(5)), int64(r.IntN(5))}}
		}
		slices.SortFunc(targets, byRoom)
		for i, s := range targets {
			s.at = i
		}
		var changed []*target
		for range r.IntN(2*len(targets) + 1) {
			s := targets[r.IntN(len(targets))]
			s.free[r.IntN(2)] = int64(r.IntN(5))
			changed = append(changed, s)
		}
		want := slices.Clone(targets)
		slices.SortFunc(want, byRoom)
		if reorder(targets, changed); !slices.Equal(targets, want) {
			t.Fatalf("seed %d: %d seats, of which some changed, are not in order", seed, len(targets))
		}
	}
}
