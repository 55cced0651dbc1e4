package removal

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/scheduling"
)

// TestReorderPutsTargetsInOrder compares with sorting them all.
func TestReorderPutsTargetsInOrder(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 43))
		targets := make([]*scheduling.Target, r.IntN(40))
		for i := range targets {
			targets[i] = &scheduling.Target{Name: fmt.Sprintf("n%02d", i), Node: &cluster.Node{Initialized: r.IntN(4) > 0}, Free: []int64{int64(r.IntN(5)), int64(r.IntN(5))}}
		}
		slices.SortFunc(targets, scheduling.ByRoom)
		for i, s := range targets {
			s.At = i
		}
		var changed []*scheduling.Target
		for range r.IntN(2*len(targets) + 1) {
			s := targets[r.IntN(len(targets))]
			s.Free[r.IntN(2)] = int64(r.IntN(5))
			changed = append(changed, s)
		}
		want := slices.Clone(targets)
		slices.SortFunc(want, scheduling.ByRoom)
		if reorder(targets, changed); !slices.Equal(targets, want) {
			t.Fatalf("seed %d: %d seats, of which some changed, are not in order", seed, len(targets))
		}
	}
}
