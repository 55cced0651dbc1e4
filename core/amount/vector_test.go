package amount_test

import (
	"math"
	"slices"
	"testing"

	"github.com/daemok/daemok/core/amount"
)

func TestHowManyTimesANeedFits(t *testing.T) {
	for name, x := range map[string]struct {
		free, need []int64
		want       int64
	}{
		"the scarcest resource decides":     {[]int64{1000, 4, 9}, []int64{100, 1, 3}, 3},
		"what is not asked for is no limit": {[]int64{0, 8}, []int64{0, 2}, 4},
		"less than nothing is free":         {[]int64{-5, 8}, []int64{1, 2}, 0},
		"nothing is asked for":              {[]int64{1, 1}, []int64{0, 0}, math.MaxInt64},
	} {
		if got := amount.Count(x.free, x.need); got != x.want {
			t.Errorf("%s: Count(%v, %v) = %d, want %d", name, x.free, x.need, got, x.want)
		}
	}
}

func TestWhatIsTakenAndPutBack(t *testing.T) {
	free := []int64{10, 20}
	amount.Take(free, []int64{2, 3}, 4)
	if !slices.Equal(free, []int64{2, 8}) {
		t.Errorf("after four times 2 and 3 are taken, %v is left of 10 and 20", free)
	}
	amount.Take(free, []int64{2, 3}, -4)
	if !slices.Equal(free, []int64{10, 20}) {
		t.Errorf("after they are put back there is %v", free)
	}
}

func TestNegativeAmountsAreWorthNothing(t *testing.T) {
	if got := amount.Value([]float64{2, 0.5}, []int64{3, -4}); got != 6 {
		t.Errorf("Value = %v, want 6", got)
	}
	if got := amount.Positive([]int64{3, -4}); !slices.Equal(got, []float64{3, 0}) {
		t.Errorf("Positive = %v", got)
	}
}

func TestTheShareThatIsFreeIsThatOfTheScarcestResource(t *testing.T) {
	for _, x := range []struct {
		free, need []int64
		want       float64
	}{{[]int64{5, 100}, []int64{10, 10}, 0.5}, {[]int64{50, 100}, []int64{10, 10}, 1}, {[]int64{-1, 5}, []int64{4, 5}, 0}, {nil, []int64{4}, 1}} {
		if got := amount.Share(x.free, x.need); got != x.want {
			t.Errorf("Share(%v, %v) = %v, want %v", x.free, x.need, got, x.want)
		}
	}
}

func TestOneAmountCoversAnother(t *testing.T) {
	if !amount.Covers([]int64{3, 4}, []int64{3, 2}) || amount.Covers([]int64{3, 1}, []int64{3, 2}) {
		t.Error("Covers asks for at least as much of everything")
	}
}
