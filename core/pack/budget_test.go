package pack

import (
	"testing"

	"github.com/daemok/daemok/core/bitset"
)

func TestOneBudgetServesAllBatches(t *testing.T) {
	b := budget{1000, 125}
	var sum Effort
	for i, want := range []Effort{600, 400, 1000, 1000, 1000, 10} {
		got := b.take(want)
		if got > want {
			t.Errorf("batch %d gets %d, more than the %d it asks for", i, got, want)
		}
		if i < 2 && got != want {
			t.Errorf("batch %d gets %d of the %d that are left for it", i, got, want)
		}
		if got == 0 {
			t.Errorf("batch %d gets nothing", i)
		}
		sum += got
	}
	if sum > 1125 {
		t.Errorf("all batches get %d, want 1125 at most", sum)
	}
}

// A batch of most pods is searched about as long behind small ones as by itself.
func TestSmallBatchesLeaveTheEffortToTheLargeOneBehindThem(t *testing.T) {
	const small, large = 4, 1000
	p := New(Usual(10*small+large), 10*small+large)
	for i := range 10 {
		p.Pack(Batch{
			Groups:    []Group{{Need: []int64{19, 19}, Count: small, Offerings: bitset.Full(3)}},
			Offerings: []Offering{{Free: []int64{20, 20}, Cost: 20}, {Free: []int64{40, 40}, Cost: 39}, {Free: []int64{80, 80}, Cost: 77}},
			After:     (9-i)*small + large,
		})
	}
	if all := Usual(10*small + large); p.left.left < all*8/10 {
		t.Errorf("%d of %d steps are left for the large batch", p.left.left, all)
	}
}
