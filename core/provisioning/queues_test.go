package provisioning

import (
	"math/rand/v2"
	"testing"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/demand"
)

// A block of groups is passed by at once only if there is room for none of them.
func TestABlockIsFullOnlyIfNoneOfItsGroupsFits(t *testing.T) {
	passed := 0
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 0))
		var l queue
		for range 1 + r.IntN(3*block) {
			l.groups = append(l.groups, &demand.Group{Need: []int64{int64(r.IntN(50)), int64(r.IntN(50))}})
		}
		l.measure()
		room := []int64{int64(r.IntN(12)), int64(r.IntN(12))}
		for i, g := range l.groups {
			if !l.full(i/block, room) {
				continue
			}
			passed++
			if amount.Fits(room, g.Need) {
				t.Fatalf("seed %d: the block of group %d, which needs %v, is full with room for %v", seed, i, g.Need, room)
			}
		}
	}
	if passed == 0 {
		t.Error("no block was full, so that nothing is tested")
	}
}
