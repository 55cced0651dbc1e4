package decide

import (
	"math"
	"testing"

	"github.com/daemok/daemok/core/place"
)

// TestWhatCostsMoreOnPaperMustSaveMuch: that is sure to be paid, and where pods go
// is a guess.
func TestWhatCostsMoreOnPaperMustSaveMuch(t *testing.T) {
	of := func(paper, likely float64) fate {
		return fate{result: place.Result{Cost: paper}, ends: Outcome{cost: likely}}
	}
	relaxed := of(100, 200)
	for phrase, c := range map[string]struct {
		other fate
		want  bool
	}{
		"little more expensive, and saves some":        {of(105, 190), true},
		"much more expensive, and saves some":          {of(142, 187), false},
		"much more expensive, and saves much":          {of(142, 150), true},
		"as expensive, and saves less than worthwhile": {of(100, 199.5), false},
		"cheaper, and saves some":                      {of(90, 190), true},
		"not known":                                    {of(105, math.Inf(1)), false},
	} {
		if got := c.other.saves(relaxed, worthwhile); got != c.want {
			t.Errorf("%s: %v, want %v", phrase, got, c.want)
		}
	}
}
