package supply

import (
	"slices"
	"testing"
)

// Pods of one group are one part of a load, however often some are added; what the first of them takes besides is
// taken once for each time that it is given.
func TestALoadHasOnePartForEachGroup(t *testing.T) {
	way := &Way{}
	l := Load{Sum: make([]int64, 2)}
	l.Add(Part{Group: 7, N: 2, Way: way, First: []int64{0, 1}}, []int64{100, 1})
	l.Add(Part{Group: 8, N: 1, Way: way}, []int64{50, 0})
	l.Add(Part{Group: 7, N: 3, Way: way}, []int64{100, 1})
	l.Add(Part{Group: 9, N: 0, Way: way}, []int64{1, 1})
	if len(l.Parts) != 2 || l.Parts[0].N != 5 || l.Parts[1].N != 1 || l.Pods() != 6 {
		t.Errorf("parts %+v; want five pods of group 7 and one of group 8", l.Parts)
	}
	if want := []int64{550, 6}; !slices.Equal(l.Sum, want) {
		t.Errorf("sum %v, want %v", l.Sum, want)
	}
}

func TestALoadFitsWhereItsRoomDoesToo(t *testing.T) {
	l := Load{Sum: []int64{10, 10}, Room: []int64{20, 0}}
	if !l.fitsIn([]int64{20, 10}) || l.fitsIn([]int64{19, 10}) || l.fitsIn([]int64{20, 9}) {
		t.Error("a load fits where there is so much for its pods, and so much room")
	}
}

func TestACopyOfALoadSharesNothing(t *testing.T) {
	l := Load{Sum: []int64{1}, Parts: []Part{{Group: 1, N: 1, Way: &Way{}}}}
	clone := l.Clone()
	var other Load
	other.Copy(&l)
	l.Add(Part{Group: 1, N: 1, Way: &Way{}}, []int64{1})
	for name, x := range map[string]Load{"clone": clone, "copy": other} {
		if x.Parts[0].N != 1 || x.Sum[0] != 1 {
			t.Errorf("the %s changed with the load: %+v", name, x)
		}
	}
	l.Reset(3)
	if l.Option != 3 || len(l.Parts) != 0 || l.Sum[0] != 0 {
		t.Errorf("after Reset: %+v", l)
	}
}
