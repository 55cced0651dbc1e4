package place_test

import (
	"slices"
	"testing"

	"github.com/daemok/daemok/core/cluster"
	"github.com/daemok/daemok/core/pack"
	"github.com/daemok/daemok/core/place"
	"github.com/daemok/daemok/core/scenario"
)

// TestLimitsThatAreSparedAreNotBilled: instances that take little of a limit come
// first, and an answer costs what they do.
func TestLimitsThatAreSparedAreNotBilled(t *testing.T) {
	s := underLimit(t)
	for phrase, c := range map[string]struct {
		limitCost, cost float64
		left            int
		short           bool
	}{
		"the cheapest machines":       {0, 200_000, 2, true},
		"those that take least of it": {1_000_000, 600_000, 0, false},
	} {
		got := place.Place(s, place.Options{LimitCost: c.limitCost})
		left := leftBy(&got)
		if got.Cost != c.cost || left != c.left || got.Short != c.short {
			t.Errorf("%s: cost %v, %d left, short %v; want %+v", phrase, got.Cost, left, got.Short, c)
		}
	}
}

// TestInstancesChosenTogetherKeepWhatALimitLeavesToTheOthers: none becomes another
// that is cheaper and takes more of it.
func TestInstancesChosenTogetherKeepWhatALimitLeavesToTheOthers(t *testing.T) {
	got := place.Place(underLimit(t), place.Options{Packer: packer(func(b pack.Batch) []pack.Instance {
		modest := 0
		for i, o := range b.Offerings {
			if o.Takes[0].Amount < b.Offerings[modest].Takes[0].Amount {
				modest = i
			}
		}
		return slices.Repeat([]pack.Instance{{Offering: modest, Parts: []pack.Part{{Group: 0, N: 1}}}}, 4)
	})})
	if left := leftBy(&got); left > 0 {
		t.Errorf("%d pods are left", left)
	}
}

// underLimit is four pods for which the limit suffices with instances that are not
// the cheapest.
func underLimit(t *testing.T) *cluster.Snapshot {
	t.Helper()
	s, err := scenario.Parse(`
catalogue isle 1
kind c4 cpu=4 memory=8Gi pods=30
  offer a on-demand 0.10
kind m2 cpu=2 memory=8Gi pods=30
  offer a on-demand 0.15
shape web namespace=d cpu=1500m memory=7Gi
waiting d/web shape=web count=4
pool NodePool/pa catalogue=isle
  limit cpu=8
`)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func leftBy(r *place.Result) int {
	n := 0
	for _, u := range r.Unplaced {
		n += len(u.Pods)
	}
	return n
}

// packer is a Packer that is a function.
type packer func(pack.Batch) []pack.Instance

func (p packer) Pack(b pack.Batch) []pack.Instance { return p(b) }
