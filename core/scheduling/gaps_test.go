package scheduling

import (
	"math/rand/v2"
	"testing"

	"github.com/daemok/daemok/core/amount"
)

// Gaps pass by many targets at once, and by no target that has room.
func TestGapsFindTheNextTargetWithRoom(t *testing.T) {
	found := 0
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 0))
		all := make([][]int64, r.IntN(5*gapsIn))
		x := &Gaps{Dims: 2}
		for i := range all {
			all[i] = []int64{int64(r.IntN(20)), int64(r.IntN(20))}
			x.Add(all[i])
		}
		need := []int64{int64(r.IntN(22)), int64(r.IntN(22))}
		for at := range all {
			want := at
			for want < len(all) && !amount.Fits(all[want], need) {
				want++
			}
			if want < len(all) {
				found++
			}
			if got := x.Next(at, len(all), need); got != want {
				t.Fatalf("seed %d: from target %d of %d on, the next with room for %v is %d, want %d", seed, at, len(all), need, got, want)
			}
		}
	}
	if found == 0 {
		t.Error("no target had room, so that nothing is tested")
	}
}

func TestOfTargetsThatCameLaterNothingIsKnown(t *testing.T) {
	x := &Gaps{Dims: 1}
	x.Add([]int64{0})
	if got := x.Next(1, 3, []int64{5}); got != 1 {
		t.Errorf("target 1 came later and is passed by for %d", got)
	}
	if got := (*Gaps)(nil).Next(2, 3, []int64{5}); got != 2 {
		t.Errorf("where nothing is known, target 2 is passed by for %d", got)
	}
	x.Clear()
	if got := x.Next(0, 3, []int64{5}); got != 0 {
		t.Errorf("after all are taken out, target 0 is passed by for %d", got)
	}
}
