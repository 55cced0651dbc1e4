package place

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/daemok/daemok/core/cluster"
)

// TestReorderPutsSeatsInOrder compares with sorting them all.
func TestReorderPutsSeatsInOrder(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 43))
		seats := make([]*seat, r.IntN(40))
		for i := range seats {
			seats[i] = &seat{name: fmt.Sprintf("n%02d", i), node: &cluster.Node{Initialized: r.IntN(4) > 0}, free: []int64{int64(r.IntN(5)), int64(r.IntN(5))}}
		}
		slices.SortFunc(seats, byRoom)
		for i, s := range seats {
			s.at = i
		}
		var changed []*seat
		for range r.IntN(2*len(seats) + 1) {
			s := seats[r.IntN(len(seats))]
			s.free[r.IntN(2)] = int64(r.IntN(5))
			changed = append(changed, s)
		}
		want := slices.Clone(seats)
		slices.SortFunc(want, byRoom)
		if reorder(seats, changed); !slices.Equal(seats, want) {
			t.Fatalf("seed %d: %d seats, of which some changed, are not in order", seed, len(seats))
		}
	}
}
