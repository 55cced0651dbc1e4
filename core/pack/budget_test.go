package pack

import "testing"

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
