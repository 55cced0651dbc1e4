package bitset_test

import (
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/daemok/daemok/core/bitset"
)

// TestSetsAreMaps compares every operation with a plain map.
func TestSetsAreMaps(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 1))
	for range 300 {
		n := 1 + r.IntN(200)
		a, b := bitset.New(n), bitset.New(n)
		inA, inB := map[int]bool{}, map[int]bool{}
		for range r.IntN(100) {
			i, j, k := r.IntN(n), r.IntN(n), r.IntN(n)
			a.Add(i)
			b.Add(j)
			a.Remove(k)
			inA[i], inB[j] = true, true
			inA[k] = false
		}
		and, or := a.Clone(), a.Clone()
		and.And(b)
		or.Or(b)
		shared := 0
		for i := range n {
			if a.Has(i) != inA[i] || and.Has(i) != (inA[i] && inB[i]) || or.Has(i) != (inA[i] || inB[i]) {
				t.Fatalf("%d of %d: %v %v %v", i, n, a.Has(i), and.Has(i), or.Has(i))
			}
			if and.Has(i) {
				shared++
			}
		}
		var one, inOne []int
		for i := range a.Difference(b) {
			one = append(one, i)
		}
		for i := range n {
			if inA[i] != inB[i] {
				inOne = append(inOne, i)
			}
		}
		if !slices.Equal(one, inOne) {
			t.Fatalf("of %d: %v are in one of them, not %v", n, inOne, one)
		}
		if and.Count() != shared || a.Intersects(b) != (shared > 0) {
			t.Fatalf("Count is %d and Intersects %v with %d shared", and.Count(), a.Intersects(b), shared)
		}
	}
}

func TestNextVisitsMembersInOrder(t *testing.T) {
	for _, n := range []int{0, 1, 63, 64, 65, 128, 130} {
		s, want := bitset.Full(n), 0
		for i := s.Next(0); i >= 0; i = s.Next(i + 1) {
			if i != want {
				t.Fatalf("of %d: %d follows %d", n, i, want-1)
			}
			want++
		}
		if want != n || s.Count() != n {
			t.Errorf("of %d: %d were visited, Count is %d", n, want, s.Count())
		}
	}
}
