package provisioning

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/daemok/daemok/core/amount"
	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/demand"
)

// What is outstanding is kept up to date launch by launch; it is what adding up all groups would come to.
func TestWhatIsOutstandingIsTheSumOfAllGroups(t *testing.T) {
	for seed := range uint64(100) {
		r := rand.New(rand.NewPCG(seed, 0))
		pr := &Provisioner{Problem: Problem{State: &demand.State{Demand: &demand.Demand{}, Dims: amount.Of(nil)}}}
		for at := range 1 + r.IntN(6) {
			g := &demand.Group{At: at, Need: make([]int64, pr.Dims.Len())}
			g.Need[amount.CPU], g.Need[amount.Memory] = int64(r.IntN(9)), int64(r.IntN(9))
			for range 1 + r.IntN(9) {
				g.Pods = append(g.Pods, demand.WaitingPod{Pod: &cluster.Pod{}})
			}
			pr.Groups = append(pr.Groups, g)
		}
		pr.SumUp()
		for range 30 {
			g := pr.Groups[r.IntN(len(pr.Groups))]
			switch left := pr.outstanding.left[g.At]; {
			case r.IntN(4) == 0:
				pr.outstanding.move(g, r.IntN(3))
			case r.IntN(8) == 0:
				pr.outstanding.giveUp(g)
			case left > 0:
				pr.outstanding.take(g, 1+r.Int64N(left))
			}
		}
		all, tiers := sums(pr, func(*demand.Group) bool { return true }), [3][]int64{}
		if !slices.Equal(pr.outstanding.all.sum, all) {
			t.Fatalf("seed %d: all is %v, want %v", seed, pr.outstanding.all.sum, all)
		}
		for tier := range tiers {
			want := sums(pr, func(g *demand.Group) bool { return g.Counted && g.Home == tier })
			if got := pr.outstanding.of(tier).sum; !slices.Equal(got, want) {
				t.Fatalf("seed %d: %v is outstanding of tier %d, want %v", seed, got, tier, want)
			}
		}
	}
}

// sums adds up what is left of the groups.
func sums(pr *Provisioner, of func(*demand.Group) bool) []int64 {
	out := make([]int64, pr.Dims.Len())
	for _, g := range pr.Groups {
		if of(g) {
			amount.Take(out, g.Need, -pr.outstanding.left[g.At])
		}
	}
	return out
}
