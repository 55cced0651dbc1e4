package parallel

import (
	"fmt"
	"testing"
)

// What is kept for a key is the same for all who ask, and none else's.
func TestKnownMakesAValueForEachKey(t *testing.T) {
	var known Known[int]
	seen := make([]*int, 64)
	Each(len(seen), func(i int) {
		seen[i] = known.Get(fmt.Append(nil, i%4), func() *int { n := i % 4; return &n })
	})
	for i, at := range seen {
		if at != seen[i%4] || *at != i%4 {
			t.Errorf("caller %d got %v of %d, want %v", i, at, *at, seen[i%4])
		}
	}
	key := []byte("0")
	known.Get(key, func() *int { t.Error("it was made once more"); return nil })
	key[0] = 'x'
	if again := known.Get([]byte("0"), func() *int { return nil }); again != seen[0] {
		t.Error("the key was kept, and written")
	}
}
