package place

import (
	"cmp"
	"math/rand/v2"
	"reflect"
	"slices"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/pack"
	"github.com/daemok/daemok/core/parallel"
	"github.com/daemok/daemok/core/plan"
	"github.com/daemok/daemok/core/supply"
)

// TestWhatIsPreparedChangesNoAnswer asks in random worlds, several times at once, with what
// was prepared for them; for the same world with half of its pods; and for one whose pools
// are others, for which it is of no use.
func TestWhatIsPreparedChangesNoAnswer(t *testing.T) {
	placed := 0
	for seed := range uint64(300) {
		s := someWorld(rand.New(rand.NewPCG(seed, 7)))
		fewer, others := *s, *s
		fewer.Waiting = s.Waiting[:len(s.Waiting)/2]
		others.Pools = slices.Clone(s.Pools)
		for i := range others.Pools {
			others.Pools[i].Weight += i
			others.Pools[i].Catalogue = nil
		}
		ready := supply.Prepare(s)
		asked := []*cluster.Snapshot{s, &fewer, &others, s, &fewer, &others}
		got := make([]Result, len(asked))
		parallel.Each(len(asked), func(i int) { got[i] = Place(asked[i], Options{Ready: ready, Packer: eachAlone{}}) })
		for i, of := range asked {
			if want := Place(of, Options{Packer: eachAlone{}}); !reflect.DeepEqual(got[i], want) {
				t.Fatalf("seed %d, world %d: with what was prepared\n%s\nwithout\n%s", seed, i, written(&got[i]), written(&want))
			}
		}
		placed += len(got[0].Launches)
		if ready.Knows(&others) && len(s.Pools) > 0 {
			t.Fatalf("seed %d: pools are taken for others", seed)
		}
	}
	if placed == 0 {
		t.Error("nothing was launched in any world")
	}
}

func written(r *Result) string {
	return plan.Plan{Launches: r.Launches, Placements: r.Placements, Unplaced: r.Unplaced}.String()
}

// eachAlone is a packer that launches an instance for every pod, the cheapest.
type eachAlone struct{}

func (eachAlone) Pack(l pack.Batch) (out []pack.Instance) {
	for podGroup := range l.Groups {
		best := -1
		for o := range l.Offerings {
			if l.Groups[podGroup].Offerings.Has(o) && fits(l.Offerings[o].Free, l.Groups[podGroup].Need) && (best < 0 || cmp.Less(l.Offerings[o].Cost, l.Offerings[best].Cost)) {
				best = o
			}
		}
		for range l.Groups[podGroup].Count {
			if best >= 0 && len(l.Limits) == 0 {
				out = append(out, pack.Instance{Offering: best, Parts: []pack.Part{{Group: podGroup, N: 1}}})
			}
		}
	}
	return out
}

func fits(free, need []int64) bool {
	for d, v := range need {
		if v > free[d] {
			return false
		}
	}
	return true
}
