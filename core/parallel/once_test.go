package parallel_test

import (
	"testing"

	"github.com/daemok/daemok/core/parallel"
)

func TestOnceMakesAValueForAll(t *testing.T) {
	var once parallel.Once[int]
	seen := make([]*int, 100)
	parallel.Each(len(seen), func(i int) {
		seen[i] = once.Get(func() *int { n := 7; return &n })
	})
	for i, p := range seen {
		if p != seen[0] || *p != 7 {
			t.Fatalf("asker %d got %v (%d), the first one %v", i, p, *p, seen[0])
		}
	}
	if again := once.Get(func() *int { t.Error("it was made once more"); return nil }); again != seen[0] {
		t.Errorf("later %v, before %v", again, seen[0])
	}
}
