package bench

import (
	"math"
	"testing"
)

func TestExponentIsTheSlopeOnLogarithmicAxes(t *testing.T) {
	tests := map[string]struct {
		sizes   []int
		seconds []float64
		want    float64
	}{
		"linear":             {[]int{1, 2, 4, 8}, []float64{3, 6, 12, 24}, 1},
		"square":             {[]int{10, 20, 40, 80}, []float64{1, 4, 16, 64}, 2},
		"constant":           {[]int{1, 10, 100}, []float64{7, 7, 7}, 0},
		"off the line twice": {[]int{1, 2, 4, 8}, []float64{2, 2, 8, 8}, 0.8},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			if got := exponent(tt.sizes, tt.seconds); math.Abs(got-tt.want) > 1e-9 {
				t.Errorf("exponent(%v, %v) = %v, want %v", tt.sizes, tt.seconds, got, tt.want)
			}
		})
	}
}

func TestGrowthNeedsFourSizesOrTwoToCompare(t *testing.T) {
	for _, x := range grown {
		if x.of == "types" && len(x.sizes) == 2 {
			continue
		}
		if len(x.sizes) < 4 || x.sizes[len(x.sizes)-1] < 8*x.sizes[0] {
			t.Errorf("growth of %s in %s%s is measured at %v: want four sizes, the last eight times the first", x.of, x.work.Mix, x.work.Generate, x.sizes)
		}
	}
}

func TestGrowthIsMeasuredAtEachSize(t *testing.T) {
	x := series{Options{Mix: "existing", Pods: 40, Runs: 1}, "nodes", []int{5, 10, 20, 40}}
	g, err := x.measure()
	if err != nil || len(g.Seconds) != 4 || len(g.CPUSeconds) != 4 || g.Mix != "existing" || g.Of != "nodes" {
		t.Errorf("got %+v, %v; want figures of four sizes", g, err)
	}
}

func TestWhatCannotGrowIsRefused(t *testing.T) {
	err := MeasureGrowth(Options{}, "clouds", func(Growth) error { return nil })
	if err == nil {
		t.Error("growth of clouds is measured")
	}
}
